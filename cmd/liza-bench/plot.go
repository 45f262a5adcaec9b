package main

import (
	"fmt"
	"math"
	"strings"
)

type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

type curve struct {
	name   string
	points []point
}

// plot draws cost against board size, and throughput against the number of writers.
func (l *lab) plot() string {
	var b strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" width="960" height="420" viewBox="0 0 960 420" font-family="sans-serif" font-size="12">` + "\n")
	b.WriteString(`<rect width="960" height="420" fill="white"/>` + "\n")
	var curves []curve
	for _, name := range grown {
		c := curve{name: name}
		for _, g := range l.growth {
			if g.Commits < 5*g.Tasks || g.Tasks == 10 && len(c.points) == 0 {
				c.points = append(c.points, point{float64(g.Tasks), g.MS[name]})
			}
		}
		if name == "claim" {
			c.name = "claim less the checkout"
		}
		curves = append(curves, c)
	}
	panel{x: 70, title: "cost of a command against the size of the board", across: "tasks", up: "ms (median)"}.draw(&b, curves)
	panel{x: 590, title: "operations a second against writers", across: "processes that write", up: "operations/s", base2: true}.draw(&b, []curve{{"notes", l.writers}})
	b.WriteString("</svg>\n")
	return b.String()
}

// panel is one diagram, both axes logarithmic.
type panel struct {
	x                 float64
	title, across, up string
	base2             bool
}

const (
	panelTop, panelHigh, panelWide = 50.0, 310.0, 270.0
)

var colours = []string{"#888888", "#1f77b4", "#9467bd", "#8c564b", "#d62728", "#2ca02c", "#ff7f0e", "#17becf", "#bcbd22"}

func (p panel) draw(b *strings.Builder, curves []curve) {
	xs, ys := []float64{}, []float64{}
	for _, c := range curves {
		for _, pt := range c.points {
			if pt.Y > 0 {
				xs, ys = append(xs, pt.X), append(ys, pt.Y)
			}
		}
	}
	fmt.Fprintf(b, `<text x="%.0f" y="28" font-weight="bold">%s</text>`+"\n", p.x, p.title)
	if len(xs) == 0 {
		return
	}
	step := 10.0
	if p.base2 {
		step = 2
	}
	x0, x1 := bounds(xs, step)
	y0, y1 := bounds(ys, 10)
	atX := func(v float64) float64 { return p.x + panelWide*(math.Log(v/x0))/math.Log(x1/x0) }
	atY := func(v float64) float64 { return panelTop + panelHigh - panelHigh*math.Log(v/y0)/math.Log(y1/y0) }
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="none" stroke="#333"/>`+"\n", p.x, panelTop, panelWide, panelHigh)
	for v := x0; v <= x1*1.001; v *= step {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n", atX(v), panelTop+panelHigh+18, thousands(int(v+0.5)))
	}
	for v := y0; v <= y1*1.001; v *= 10 {
		for _, m := range []float64{1, 2, 5} {
			if y := m * v; y <= y1*1.001 {
				fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#ddd"/>`+"\n", p.x, p.x+panelWide, atY(y), atY(y))
				fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="end">%g</text>`+"\n", p.x-6, atY(y)+4, round(y))
			}
		}
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n", p.x+panelWide/2, panelTop+panelHigh+40, p.across)
	fmt.Fprintf(b, `<text transform="translate(%.1f %.1f) rotate(-90)" text-anchor="middle">%s</text>`+"\n", p.x-48, panelTop+panelHigh/2, p.up)
	for i, c := range curves {
		var way []string
		for _, pt := range c.points {
			if pt.Y > 0 {
				way = append(way, fmt.Sprintf("%.1f,%.1f", atX(pt.X), atY(pt.Y)))
			}
		}
		colour := colours[i%len(colours)]
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(way, " "), colour)
		for _, w := range way {
			x, y, _ := strings.Cut(w, ",")
			fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="3" fill="%s"/>`+"\n", x, y, colour)
		}
		if len(curves) > 1 {
			fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="12" height="3" fill="%s"/><text x="%.1f" y="%.1f">%s</text>`+"\n", p.x+panelWide+14, panelTop+12+float64(i)*18, colour, p.x+panelWide+32, panelTop+17+float64(i)*18, c.name)
		}
	}
}

// bounds are powers of a step around values.
func bounds(values []float64, step float64) (low, high float64) {
	low, high = values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	low = math.Pow(step, math.Floor(math.Log(low)/math.Log(step)+1e-9))
	high = math.Pow(step, math.Ceil(math.Log(high)/math.Log(step)-1e-9))
	if low == high {
		high *= step
	}
	return low, high
}
