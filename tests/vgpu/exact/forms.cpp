#include "forms.hpp"

#include <cmath>

namespace exact {
namespace {

using Names = std::vector<std::string>;

class List {
  public:
    std::vector<Form> forms;
    std::string family;

    // `name %d, %a, %b, …;` with as many sources as `sources` has letters.
    Form& plain(const std::string& name, char result, const std::string& sources) {
        static constexpr const char* regs[] = {", %a", ", %b", ", %c"};
        std::string body = name + " %d";
        for (std::size_t i = 0; i < sources.size(); ++i) body += regs[i];
        return add(name, body + ";", result, sources);
    }
    Form& add(const std::string& name, const std::string& body, char result, const std::string& sources) {
        forms.push_back({family, name, body, result, sources});
        return forms.back();
    }
};

char integer_class(const std::string& type) { return type.ends_with("16") ? 'h' : type.ends_with("64") ? 'l' : 'w'; }
char float_class(const std::string& type) {
    return type == "f32"     ? 'f'
           : type == "f64"   ? 'd'
           : type == "f16"   ? 'x'
           : type == "bf16"  ? 'y'
           : type == "f16x2" ? 'X'
                             : 'Y';
}
char class_of(const std::string& type) {
    return type.find('f') != std::string::npos ? float_class(type) : integer_class(type);
}
std::string repeat(char c, std::size_t n) { return std::string(n, c); }

void integer(List& l) {
    l.family = "integer";
    for (const std::string t : {"u16", "s16", "u32", "s32", "u64", "s64"}) {
        const char c = integer_class(t);
        for (const std::string op : {"add.", "sub.", "mul.lo.", "mul.hi.", "min.", "max.", "div.", "rem."})
            l.plain(op + t, c, repeat(c, 2));
        for (const std::string op : {"mad.lo.", "mad.hi.", "sad."}) l.plain(op + t, c, repeat(c, 3));
        if (t[0] == 's') {
            l.plain("abs." + t, c, {c});
            l.plain("neg." + t, c, {c});
        }
    }
    for (const std::string t : {"u16", "s16", "u32", "s32"}) {
        const char c = integer_class(t), wide = c == 'h' ? 'w' : 'l';
        l.plain("mul.wide." + t, wide, repeat(c, 2));
        l.plain("mad.wide." + t, wide, repeat(c, 2) + wide);
    }
    l.plain("add.sat.s32", 'w', "ww");
    l.plain("sub.sat.s32", 'w', "ww");
    for (const std::string t : {"u32", "s32"}) {
        for (const std::string op : {"mul24.lo.", "mul24.hi."}) l.plain(op + t, 'w', "ww");
        for (const std::string op : {"mad24.lo.", "mad24.hi."}) l.plain(op + t, 'w', "www");
        for (const std::string u : {"u32", "s32"}) {
            l.plain("dp4a." + t + "." + u, 'w', "www");
            l.plain("dp2a.lo." + t + "." + u, 'w', "www");
            l.plain("dp2a.hi." + t + "." + u, 'w', "www");
        }
    }
    for (const std::string op : {"add.u16x2", "add.s16x2", "min.u16x2", "min.s16x2", "max.u16x2", "max.s16x2",
                                 "min.s16x2.relu", "max.s16x2.relu", "min.s32.relu", "max.s32.relu"})
        l.plain(op, 'w', "ww");
    for (const std::string t : {"u32", "s32"})
        for (const std::string n : {"vabsdiff2.", "vabsdiff4."}) {
            l.plain(n + "u32." + t + "." + t, 'w', "www");
            l.plain(n + "u32." + t + "." + t + ".add", 'w', "www");
        }
    // Carries, observed through an operation that consumes them.
    for (const std::string t : {"u32", "u64"}) {
        const char c = integer_class(t);
        const auto chain = [&](const std::string& first, const std::string& second) {
            l.add(first + "+" + second,
                  "{.reg ." + t + " x; " + first + "." + t + " x, %a, %b; " + second + "." + t + " %d, %c, x;}", c,
                  repeat(c, 3));
        };
        chain("add.cc", "addc");
        chain("sub.cc", "subc");
        l.forms.back().name += "." + t;
        l.forms[l.forms.size() - 2].name += "." + t;
        l.add("addc.cc." + t,
              "{.reg ." + t + " x; add.cc." + t + " x, %a, %b; addc.cc." + t + " x, %b, %c; addc." + t + " %d, x, 0;}",
              c, repeat(c, 3));
        l.add("subc.cc." + t,
              "{.reg ." + t + " x; sub.cc." + t + " x, %a, %b; subc.cc." + t + " x, %b, %c; subc." + t + " %d, x, 0;}",
              c, repeat(c, 3));
        l.add("mad.lo.cc." + t, "{.reg ." + t + " x; mad.lo.cc." + t + " x, %a, %b, %c; addc." + t + " %d, x, 0;}", c,
              repeat(c, 3));
        l.add("madc.hi." + t,
              "{.reg ." + t + " x; mad.lo.cc." + t + " x, %a, %b, %c; madc.hi." + t + " %d, %a, %b, %c;}", c,
              repeat(c, 3));
        l.add("madc.hi.cc." + t,
              "{.reg ." + t + " x; mad.hi.cc." + t + " x, %a, %b, %c; madc.hi.cc." + t + " x, %a, %b, x; addc." + t +
                  " %d, x, 0;}",
              c, repeat(c, 3));
    }
}

void bits(List& l) {
    l.family = "bits";
    for (const std::string t : {"b16", "b32", "b64"}) {
        const char c = integer_class(t);
        for (const std::string op : {"and.", "or.", "xor."}) l.plain(op + t, c, repeat(c, 2));
        for (const std::string op : {"not.", "cnot."}) l.plain(op + t, c, {c});
        l.plain("shl." + t, c, {c, 'n'});
    }
    for (const std::string t : {"u16", "s16", "u32", "s32", "u64", "s64"})
        l.plain("shr." + t, integer_class(t), {integer_class(t), 'n'});
    for (const std::string op : {"shf.l.wrap.b32", "shf.l.clamp.b32", "shf.r.wrap.b32", "shf.r.clamp.b32"})
        l.plain(op, 'w', "wwn");
    for (const std::string t : {"b32", "b64"}) {
        const char c = integer_class(t);
        l.plain("popc." + t, 'w', {c});
        l.plain("clz." + t, 'w', {c});
        l.plain("brev." + t, c, {c});
        l.add("bfi." + t, "bfi." + t + " %d, %a, %a, %b, %c;", c, {c, 'n', 'n'});
    }
    for (const std::string t : {"u32", "s32", "u64", "s64"}) {
        const char c = integer_class(t);
        l.plain("bfind." + t, 'w', {c});
        l.plain("bfind.shiftamt." + t, 'w', {c});
        l.plain("bfe." + t, c, {c, 'n', 'n'});
    }
    for (const std::string m : {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"})
        l.plain("prmt.b32" + m, 'w', "www");
    for (const std::string table : {"0x00", "0x96", "0xe8", "0xca", "0x1b", "0xff"})
        l.add("lop3.b32." + table, "lop3.b32 %d, %a, %b, %c, " + table + ";", 'w', "www");
    l.plain("bmsk.clamp.b32", 'w', "nn");
    l.plain("bmsk.wrap.b32", 'w', "nn");
    for (const std::string t : {"u32", "s32"}) {
        l.plain("szext.clamp." + t, 'w', "wn");
        l.plain("szext.wrap." + t, 'w', "wn");
    }
    l.plain("fns.b32", 'w', "wnn");
    l.add("fns.b32.down", "{.reg .b32 x; neg.s32 x, %c; fns.b32 %d, %a, %b, x;}", 'w', "wnn");
}

void floating(List& l) {
    const Names modes = {".rn", ".rz", ".rm", ".rp"};
    for (const std::string t : {"f32", "f64"}) {
        l.family = t == "f32" ? "float" : "double";
        const char c = float_class(t);
        const Names ftz = t == "f32" ? Names{"", ".ftz"} : Names{""}, sat = t == "f32" ? Names{"", ".sat"} : Names{""};
        for (const auto& m : modes)
            for (const auto& z : ftz) {
                for (const auto& s : sat) {
                    for (const std::string op : {"add", "sub", "mul"})
                        l.plain(op + m + z + s + "." + t, c, repeat(c, 2));
                    l.plain("fma" + m + z + s + "." + t, c, repeat(c, 3));
                }
                l.plain("div" + m + z + "." + t, c, repeat(c, 2));
                l.plain("rcp" + m + z + "." + t, c, {c});
                l.plain("sqrt" + m + z + "." + t, c, {c});
            }
        for (const auto& z : ftz) {
            for (const std::string op : {"min", "max"}) l.plain(op + z + "." + t, c, repeat(c, 2));
            for (const std::string op : {"neg", "abs"}) l.plain(op + z + "." + t, c, {c});
            if (t == "f32")
                for (const std::string op : {"min", "max"})
                    for (const std::string how : {".NaN", ".xorsign.abs", ".NaN.xorsign.abs"})
                        l.plain(op + z + how + ".f32", c, repeat(c, 2));
        }
        l.plain("copysign." + t, c, repeat(c, 2));
        for (const std::string what : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"})
            l.add("testp." + what + "." + t,
                  "{.reg .pred p; testp." + what + "." + t + " p, %a; selp.u32 %d, 1, 0, p;}", 'w', {c});
        for (const std::string where : {"global", "shared"}) {
            const std::string place = where == "global" ? "[%m]" : "[%s]";
            l.add("atom." + where + ".add." + t,
                  "{.reg ." + t + " x; st." + where + "." + t + " " + place + ", %a; atom." + where + ".add." + t +
                      " x, " + place + ", %b; ld." + where + "." + t + " %d, " + place + ";}",
                  c, repeat(c, 2));
        }
    }
}

void half(List& l) {
    l.family = "half";
    for (const std::string t : {"f16", "f16x2", "bf16", "bf16x2"}) {
        const char c = float_class(t);
        const bool f16 = t[0] == 'f';
        for (const std::string& z : f16 ? Names{"", ".ftz"} : Names{""}) {
            for (const std::string& s : f16 ? Names{"", ".sat"} : Names{""}) {
                for (const std::string op : {"add.rn", "sub.rn", "mul.rn"})
                    l.plain(op + z + s + "." + t, c, repeat(c, 2));
                l.plain("fma.rn" + z + s + "." + t, c, repeat(c, 3));
            }
            l.plain("fma.rn" + z + ".relu." + t, c, repeat(c, 3));
            for (const std::string op : {"min", "max"})
                for (const std::string how : {"", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"})
                    l.plain(op + z + how + "." + t, c, repeat(c, 2));
            if (f16) {
                l.plain("neg" + z + "." + t, c, {c});
                l.plain("abs" + z + "." + t, c, {c});
            }
        }
        if (!f16) {
            l.plain("neg." + t, c, {c});
            l.plain("abs." + t, c, {c});
        }
        l.add("atom.global.add.noftz." + t,
              "{.reg ." + std::string(bytes_of(c) == 2 ? "b16" : "b32") + " x; st.global." +
                  (bytes_of(c) == 2 ? "b16" : "b32") + " [%m], %a; atom.global.add.noftz." + t +
                  " x, [%m], %b; ld.global." + (bytes_of(c) == 2 ? "b16" : "b32") + " %d, [%m];}",
              c, repeat(c, 2));
    }
}

void compare(List& l) {
    l.family = "compare";
    const Names ordered = {"eq", "ne", "lt", "le", "gt", "ge"},
                unordered = {"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
    const auto setp = [&](const std::string& op, const std::string& t) {
        const char c = class_of(t);
        l.add("setp." + op + "." + t, "{.reg .pred p; setp." + op + "." + t + " p, %a, %b; selp.u32 %d, 1, 0, p;}", 'w',
              repeat(c, 2));
    };
    for (const std::string t : {"u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64", "f16", "bf16"})
        for (const auto& op : ordered) setp(op, t);
    for (const std::string t : {"f32", "f64", "f16", "bf16"})
        for (const auto& op : unordered) setp(op, t);
    for (const std::string op : {"lt.ftz", "equ.ftz"})
        for (const std::string t : {"f32", "f16"}) setp(op, t);
    for (const std::string t : {"u32", "u64"})
        for (const std::string op : {"lo", "ls", "hi", "hs"}) setp(op, t);
    for (const std::string t : {"f16x2", "bf16x2"}) {
        for (const std::string op : {"lt", "geu"})
            l.add("setp." + op + "." + t,
                  "{.reg .pred p, q; .reg .b32 x; setp." + op + "." + t +
                      " p|q, %a, %b; selp.u32 x, 1, 0, p; selp.u32 %d, 2, 0, q; add.u32 %d, %d, x;}",
                  'w', repeat(class_of(t), 2));
        l.plain("set.le." + t + "." + t, 'w', repeat(class_of(t), 2));
        l.plain("set.neu.u32." + t, 'w', repeat(class_of(t), 2));
    }
    for (const std::string t : {"f32", "f64", "s32", "u64"}) {
        l.plain("set.lt.u32." + t, 'w', repeat(class_of(t), 2));
        l.plain("set.ge.f32." + t, 'f', repeat(class_of(t), 2));
    }
    l.plain("set.eq.f16.f16", 'x', "xx");
    l.plain("set.nan.bf16.bf16", 'y', "yy");
    l.plain("slct.b32.s32", 'w', "www");
    l.plain("slct.f64.s32", 'd', "ddw");
    l.plain("slct.u64.f32", 'l', "llf");
    l.plain("slct.ftz.f32.f32", 'f', "fff");
    l.add("setp.and",
          "{.reg .pred p, q; setp.gt.s32 q, %c, 0; setp.lt.and.s32 p|q, %a, %b, q; selp.u32 %d, 1, 0, p; @q add.u32 "
          "%d, %d, 2;}",
          'w', "www");
    l.add("setp.xor",
          "{.reg .pred p, q; setp.gt.s32 q, %c, 0; setp.ltu.xor.f32 p|q, %a, %b, !q; selp.u32 %d, 1, 0, p; @q add.u32 "
          "%d, %d, 2;}",
          'w', "ffw");
}

void convert(List& l) {
    l.family = "convert";
    const Names integers = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"},
                floats = {"f16", "bf16", "f32", "f64"};
    const auto cvt = [&](const std::string& how, const std::string& d, const std::string& s) {
        l.plain("cvt" + how + "." + d + "." + s, class_of(d), {class_of(s)});
    };
    for (const auto& d : integers)
        for (const auto& s : integers) {
            if (d == s) continue;
            cvt("", d, s);
            const int to = std::stoi(d.substr(1)), from = std::stoi(s.substr(1));
            const bool holds_all = d[0] == s[0] ? to >= from : d[0] == 's' && to > from;
            if (!holds_all) cvt(".sat", d, s);  // else .sat is not allowed
        }
    for (const auto& i : integers)
        for (const auto& f : floats) {
            if (f == "bf16" && i.ends_with("8")) continue;
            for (const std::string m : {".rni", ".rzi", ".rmi", ".rpi"}) cvt(m, i, f);
            for (const std::string m : {".rn", ".rz", ".rm", ".rp"}) cvt(m, f, i);
        }
    for (const std::string i : {"s8", "u16", "s32", "u64"}) cvt(".rzi.ftz", i, "f32");
    for (const std::string i : {"s8", "u16"}) cvt(".rni.sat", i, "f32");
    cvt(".rn.sat", "f32", "s32");
    for (const auto& f : floats)
        for (const std::string m : {".rni", ".rzi", ".rmi", ".rpi"}) cvt(m, f, f);
    cvt(".rzi.ftz", "f32", "f32");
    for (const std::string m : {".rn", ".rz", ".rm", ".rp"}) {
        cvt(m, "f32", "f64");
        cvt(m, "f16", "f32");
        cvt(m, "f16", "f64");
        cvt(m, "bf16", "f32");
        cvt(m, "bf16", "f64");
    }
    cvt(".rn.ftz", "f32", "f64");
    cvt(".rn.sat", "f32", "f64");
    cvt(".rn.sat", "f16", "f32");
    cvt(".rn.relu", "f16", "f32");
    cvt(".rz.relu", "bf16", "f32");
    cvt(".ftz.sat", "f32", "f32");
    cvt(".sat", "f64", "f64");
    cvt("", "f64", "f32");
    cvt(".ftz", "f64", "f32");
    for (const std::string f : {"f16", "bf16"}) {
        cvt("", "f32", f);
        cvt("", "f64", f);
    }
    cvt(".sat", "f32", "f16");
    for (const std::string f : {"f16x2", "bf16x2"})
        for (const std::string m : {".rn", ".rz", ".rn.relu", ".rz.relu"})
            l.plain("cvt" + m + "." + f + ".f32", class_of(f), "ff");
    for (const std::string m : {".rna", ".rn", ".rz", ".rn.relu", ".rz.relu"})
        l.plain("cvt" + m + ".tf32.f32", 'w', "f");
    for (const std::string e : {"e4m3x2", "e5m2x2"}) {
        l.plain("cvt.rn.satfinite." + e + ".f32", 'h', "ff");
        l.plain("cvt.rn.satfinite.relu." + e + ".f32", 'h', "ff");
        l.plain("cvt.rn.satfinite." + e + ".f16x2", 'h', "X");
        l.plain("cvt.rn.f16x2." + e, 'X', "h");
        l.plain("cvt.rn.relu.f16x2." + e, 'X', "h");
    }
}

// Approximate functions with the error and the range that PTX states for sm_90.
void approximate(List& l) {
    l.family = "approx";
    const auto f32 = [&](const std::string& name, double (*exact)(double), double error, char unit) {
        for (const std::string& z : name == "tanh.approx" ? Names{""} : Names{"", ".ftz"}) {
            Form& f = l.plain(name + z + ".f32", 'f', "f");
            f.reference = exact;
            f.error = error;
            f.unit = unit;
        }
    };
    f32(
        "rcp.approx", [](double x) { return 1 / x; }, 1, 'u');
    f32(
        "sqrt.approx", [](double x) { return std::sqrt(x); }, 0x1p-23, 'r');
    f32(
        "rsqrt.approx", [](double x) { return 1 / std::sqrt(x); }, std::exp2(-22.9), 'r');
    f32(
        "ex2.approx", [](double x) { return std::exp2(x); }, 2, 'u');
    f32(
        "lg2.approx", [](double x) { return std::log2(x); }, 0x1p-22, 'r');
    f32(
        "sin.approx", [](double x) { return std::sin(x); }, std::exp2(-20.5), 'a');
    f32(
        "cos.approx", [](double x) { return std::cos(x); }, std::exp2(-20.5), 'a');
    f32(
        "tanh.approx", [](double x) { return std::tanh(x); }, 0x1p-11, 'r');
    for (const std::string t : {"f16", "bf16"}) {
        Form& e = l.plain("ex2.approx" + std::string(t == "f16" ? "" : ".ftz") + "." + t, class_of(t), {class_of(t)});
        e.reference = [](double x) { return std::exp2(x); };
        e.error = t == "f16" ? std::exp2(-9.9) : 0x1p-7;
        e.unit = 'r';
        Form& h = l.plain("tanh.approx." + t, class_of(t), {class_of(t)});
        h.reference = [](double x) { return std::tanh(x); };
        h.error = t == "f16" ? std::exp2(-10.987) : 0x1p-8;
        h.unit = 'a';
    }
}

}  // namespace

std::vector<Form> forms() {
    List l;
    integer(l);
    bits(l);
    floating(l);
    half(l);
    compare(l);
    convert(l);
    approximate(l);
    return std::move(l.forms);
}

std::string kernel_name(std::size_t index) { return "k" + std::to_string(index); }

std::string ptx(const std::vector<Form>& forms) {
    const auto bits = [](char c) { return std::string("b") + std::to_string(8 * bytes_of(c)); };
    std::string text = ".version 8.6\n.target sm_90\n.address_size 64\n";
    for (std::size_t i = 0; i < forms.size(); ++i) {
        const Form& f = forms[i];
        text += "// " + f.name + "\n.visible .entry " + kernel_name(i) +
                "(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n{\n.reg .b64 %p, %q, %m, %o;\n"
                ".reg .b32 %i, %t, %s, %z;\n.shared .align 16 .b8 area[2048];\n";
        for (std::size_t s = 0; s < f.sources.size(); ++s)
            text += ".reg ." + bits(f.sources[s]) + " %" + static_cast<char>('a' + s) + ";\n";
        text += ".reg ." + bits(f.result) + " %d;\n";
        text +=
            "mov.u32 %i, %ctaid.x;\nmov.u32 %t, %tid.x;\nshl.b32 %s, %t, 4;\nmov.u32 %z, area;\nadd.u32 %s, %s, "
            "%z;\nmad.lo.u32 %i, %i, 128, %t;\nmul.wide.u32 %o, %i, 8;\n";
        for (std::size_t s = 0; s < f.sources.size(); ++s) {
            const std::string n(1, static_cast<char>('a' + s));
            text += "ld.param.u64 %p, [" + n + "];\nadd.u64 %q, %p, %o;\nld.global." + bits(f.sources[s]) + " %" + n +
                    ", [%q];\n";
        }
        text += "ld.param.u64 %p, [d];\nadd.u64 %m, %p, %o;\n" + f.body + "\n";
        if (bytes_of(f.result) < 8) text += "{.reg .b64 z; mov.u64 z, 0; st.global.b64 [%m], z;}\n";
        text += "st.global." + bits(f.result) + " [%m], %d;\nret;\n}\n";
    }
    return text;
}

}  // namespace exact
