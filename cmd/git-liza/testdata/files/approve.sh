# TASK REVIEWER: from review claim to approval
set -e
LIZA_AGENT_ID=$2; export LIZA_AGENT_ID
git-liza claim-review $1
git-liza verdict $1 APPROVED --checked tests --commit task/$1
