package output

import "testing"

func TestDecide(t *testing.T) {
	yes, no := true, false
	type env = map[string]string
	xterm := env{"TERM": "xterm-256color"}
	tests := []struct {
		name  string
		signs Signs
		env   env
		want  Mode
	}{
		{"terminal", Signs{Terminal: true}, xterm, Mode{Smart: true, Marks: true, Color: true, Cause: "terminal"}},
		{"no colour", Signs{Terminal: true}, env{"TERM": "xterm", "NO_COLOR": "1"}, Mode{Smart: true, Marks: true, Cause: "terminal"}},
		{"CLICOLOR", Signs{Terminal: true}, env{"TERM": "xterm", "CLICOLOR": "0"}, Mode{Smart: true, Marks: true, Cause: "terminal"}},
		{"CLICOLOR_FORCE", Signs{Terminal: true}, env{"TERM": "xterm", "CLICOLOR": "0", "CLICOLOR_FORCE": "1"}, Mode{Smart: true, Marks: true, Color: true, Cause: "terminal"}},
		{"CLICOLOR_FORCE=0", Signs{Terminal: true}, env{"TERM": "xterm", "CLICOLOR": "0", "CLICOLOR_FORCE": "0"}, Mode{Smart: true, Marks: true, Cause: "terminal"}},
		{"FORCE_COLOR", Signs{Terminal: true}, env{"TERM": "xterm", "CLICOLOR": "0", "FORCE_COLOR": "1"}, Mode{Smart: true, Marks: true, Color: true, Cause: "terminal"}},
		{"FORCE_COLOR=0", Signs{Terminal: true}, env{"TERM": "xterm", "FORCE_COLOR": "0", "CLICOLOR_FORCE": "1"}, Mode{Smart: true, Marks: true, Cause: "terminal"}},
		{"NO_COLOR beats FORCE_COLOR", Signs{Terminal: true}, env{"TERM": "xterm", "NO_COLOR": "1", "FORCE_COLOR": "3"}, Mode{Smart: true, Marks: true, Cause: "terminal"}},
		{"NO_COLOR empty", Signs{Terminal: true}, env{"TERM": "xterm", "NO_COLOR": ""}, Mode{Smart: true, Marks: true, Color: true, Cause: "terminal"}},
		{"forced on a dumb terminal", Signs{Terminal: true}, env{"TERM": "dumb", "FORCE_COLOR": "1"}, Mode{Cause: "TERM=dumb"}},
		{"older terminal", Signs{Terminal: true}, env{"TERM": "vt100", "LANG": "C.UTF-8"}, Mode{Smart: true, Color: true, Cause: "terminal"}},
		{"older terminal with utf8", Signs{Terminal: true}, env{"TERM": "vt100", "LANG": "de_DE.utf8"}, Mode{Smart: true, Color: true, Cause: "terminal"}},
		{"older terminal without UTF-8", Signs{Terminal: true}, env{"TERM": "vt100", "LANG": "C"}, Mode{Smart: true, Color: true, Limited: true, Cause: "terminal"}},
		{"older terminal without a locale", Signs{Terminal: true}, env{"TERM": "vt100"}, Mode{Smart: true, Color: true, Limited: true, Cause: "terminal"}},
		{"without UTF-8", Signs{Terminal: true}, env{"TERM": "xterm", "LC_ALL": "C", "LANG": "de_DE.utf8"}, Mode{Smart: true, Marks: true, Color: true, Cause: "terminal"}},
		{"pipe", Signs{}, xterm, Mode{Cause: "output is not a terminal"}},
		{"dumb", Signs{Terminal: true}, env{"TERM": "dumb"}, Mode{Cause: "TERM=dumb"}},
		{"unknown", Signs{Terminal: true}, env{"TERM": "unknown"}, Mode{Cause: "TERM=unknown"}},
		{"unset", Signs{Terminal: true}, env{}, Mode{Cause: "TERM is not set"}},
		{"emacs", Signs{Terminal: true}, env{"TERM": "xterm", "INSIDE_EMACS": "30,comint"}, Mode{Cause: "INSIDE_EMACS"}},
		{"flag", Signs{Terminal: true, Flag: "--plain"}, xterm, Mode{Asked: true, Cause: "--plain"}},
		{"flag beats environment", Signs{Terminal: true, Flag: "--accessible", FlagOff: true, Setting: &yes},
			env{"TERM": "xterm", "ACCESSIBLE": "1"}, Mode{Smart: true, Marks: true, Color: true, Cause: "terminal"}},
		{"flag off on a dumb terminal", Signs{Terminal: true, Flag: "--plain", FlagOff: true}, env{"TERM": "dumb"}, Mode{Cause: "TERM=dumb"}},
		{"environment", Signs{Terminal: true, Setting: &no}, env{"TERM": "xterm", "ACCESSIBLE": "yes"}, Mode{Asked: true, Cause: "ACCESSIBLE"}},
		{"environment off", Signs{Terminal: true, Setting: &yes}, env{"TERM": "xterm", "ACCESSIBLE": "No"}, Mode{Smart: true, Marks: true, Color: true, Cause: "terminal"}},
		{"environment empty", Signs{Terminal: true, Setting: &yes}, env{"TERM": "xterm", "ACCESSIBLE": ""}, Mode{Asked: true, Cause: "settings"}},
		{"own variable first", Signs{Terminal: true}, env{"TERM": "xterm", "ACCESSIBLE": "1", "GEMLINE_ACCESSIBLE": "0"}, Mode{Smart: true, Marks: true, Color: true, Cause: "terminal"}},
		{"setting", Signs{Terminal: true, Setting: &yes}, xterm, Mode{Asked: true, Cause: "settings"}},
		{"setting off", Signs{Terminal: true, Setting: &no}, xterm, Mode{Smart: true, Marks: true, Color: true, Cause: "terminal"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.signs.Lookup = func(name string) (string, bool) { v, ok := tt.env[name]; return v, ok }
			if got := Decide(tt.signs); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestName(t *testing.T) {
	for mode, want := range map[Mode]string{
		{Smart: true, Cause: "terminal"}: "",
		{Cause: "TERM=dumb"}:             "plain mode (TERM=dumb)",
		{Asked: true, Cause: "--plain"}:  "plain mode (--plain)",
		{Asked: true, Cause: "settings"}: "screen reader mode (settings)",
	} {
		if got := mode.Name(); got != want {
			t.Errorf("%+v: %q, want %q", mode, got, want)
		}
	}
}

// A flag beats the environment, and that the settings, whether it says yes or
// no; what says nothing leaves it to the next.
func TestPrecedence(t *testing.T) {
	yes, no := true, false
	for _, flag := range []*bool{nil, &yes, &no} {
		for _, env := range []*bool{nil, &yes, &no} {
			for _, setting := range []*bool{nil, &yes, &no} {
				s := Signs{Terminal: true, Setting: setting, Lookup: func(name string) (string, bool) {
					switch {
					case name == "TERM":
						return "xterm", true
					case name == "ACCESSIBLE" && env != nil:
						return map[bool]string{true: "1", false: "0"}[*env], true
					}
					return "", false
				}}
				if flag != nil {
					s.Flag, s.FlagOff = "--plain", !*flag
				}
				want, cause := false, ""
				for _, said := range []struct {
					on *bool
					by string
				}{{setting, "settings"}, {env, "ACCESSIBLE"}, {flag, "--plain"}} {
					if said.on != nil {
						want, cause = *said.on, said.by
					}
				}
				got := Decide(s)
				if got.Smart == want || got.Asked != want || want && got.Cause != cause {
					t.Errorf("flag %v, environment %v, setting %v: %+v, want %v by %s", told(flag), told(env), told(setting), got, want, cause)
				}
			}
		}
	}
}

func told(b *bool) string {
	if b == nil {
		return "nothing"
	}
	return map[bool]string{true: "on", false: "off"}[*b]
}

func TestOnlyASCII(t *testing.T) {
	type env = map[string]string
	for _, test := range []struct {
		env  env
		want bool
	}{
		{env{}, false},
		{env{"LANG": "C"}, true},
		{env{"LANG": "POSIX"}, true},
		{env{"LANG": "C.UTF-8"}, false},
		{env{"LANG": "de_DE.UTF-8", "LC_CTYPE": "C"}, true},
		{env{"LANG": "C", "LC_ALL": "en_US.UTF-8"}, false},
		{env{"LANG": "C", "LC_ALL": ""}, true},
		{env{"LANG": "en_US.UTF-8", "LC_ALL": "C"}, true},
	} {
		if got := OnlyASCII(func(name string) (string, bool) { v, ok := test.env[name]; return v, ok }); got != test.want {
			t.Errorf("%v: %v", test.env, got)
		}
	}
}
