package testrun

import (
	"fmt"
	"reflect"
)

// Bend returns copies of a pointer's target, each with one field changed at some depth, by the change. Of
// a list it changes the first item. others returns what may take the place of a string.
func Bend(p any, others func(string) []string) (names []string, copies map[string]any) {
	copies = map[string]any{}
	v := reflect.ValueOf(p).Elem()
	bend(v, "", others, func(name string, changed reflect.Value) {
		c := reflect.New(v.Type())
		c.Elem().Set(changed)
		names = append(names, name)
		copies[name] = c.Interface()
	})
	return names, copies
}

// bend passes copies of a value, each with one field changed, and the change.
func bend(v reflect.Value, name string, others func(string) []string, add func(name string, changed reflect.Value)) {
	as := func(to any) { add(fmt.Sprintf("%s=%#v", name, to), reflect.ValueOf(to).Convert(v.Type())) }
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			bend(v.Field(i), name+"."+v.Type().Field(i).Name, others, func(name string, changed reflect.Value) {
				c := reflect.New(v.Type()).Elem()
				c.Set(v)
				c.Field(i).Set(changed)
				add(name, c)
			})
		}
	case reflect.String:
		for _, s := range others(v.String()) {
			if s != v.String() {
				as(s)
			}
		}
	case reflect.Int:
		for _, n := range []int{-1, 0, 1 << 30} {
			if int64(n) != v.Int() {
				as(n)
			}
		}
	case reflect.Bool:
		as(!v.Bool())
	case reflect.Slice:
		if v.Len() == 0 {
			return
		}
		add(name+"=none", reflect.Zero(v.Type()))
		bend(v.Index(0), name+"[0]", others, func(name string, changed reflect.Value) {
			c := reflect.AppendSlice(reflect.Zero(v.Type()), v)
			c.Index(0).Set(changed)
			add(name, c)
		})
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		add(name+"=nil", reflect.Zero(v.Type()))
		bend(v.Elem(), name, others, func(name string, changed reflect.Value) {
			c := reflect.New(v.Type().Elem())
			c.Elem().Set(changed)
			add(name, c)
		})
	case reflect.Map:
		if v.Len() > 0 {
			add(name+"=none", reflect.Zero(v.Type()))
		}
	}
}
