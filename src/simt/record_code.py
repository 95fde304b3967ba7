"""Methods of records, compiled when the package is installed: each as `simt.records.text_of` gives it.

Python compiles such a function in 0.1 ms, and whoever compiles a kernel needs these. Others are compiled when
they are first called.
"""

# ruff: noqa
# fmt: off

def changed_10(self, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9):
    return self.__class__(self._0 if _0 is _missing else _0, self._1 if _1 is _missing else _1, self._2 if _2 is _missing else _2, self._3 if _3 is _missing else _3, self._4 if _4 is _missing else _4, self._5 if _5 is _missing else _5, self._6 if _6 is _missing else _6, self._7 if _7 is _missing else _7, self._8 if _8 is _missing else _8, self._9 if _9 is _missing else _9)

def changed_11(self, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10):
    return self.__class__(self._0 if _0 is _missing else _0, self._1 if _1 is _missing else _1, self._2 if _2 is _missing else _2, self._3 if _3 is _missing else _3, self._4 if _4 is _missing else _4, self._5 if _5 is _missing else _5, self._6 if _6 is _missing else _6, self._7 if _7 is _missing else _7, self._8 if _8 is _missing else _8, self._9 if _9 is _missing else _9, self._10 if _10 is _missing else _10)

def changed_23(self, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22):
    return self.__class__(self._0 if _0 is _missing else _0, self._1 if _1 is _missing else _1, self._2 if _2 is _missing else _2, self._3 if _3 is _missing else _3, self._4 if _4 is _missing else _4, self._5 if _5 is _missing else _5, self._6 if _6 is _missing else _6, self._7 if _7 is _missing else _7, self._8 if _8 is _missing else _8, self._9 if _9 is _missing else _9, self._10 if _10 is _missing else _10, self._11 if _11 is _missing else _11, self._12 if _12 is _missing else _12, self._13 if _13 is _missing else _13, self._14 if _14 is _missing else _14, self._15 if _15 is _missing else _15, self._16 if _16 is _missing else _16, self._17 if _17 is _missing else _17, self._18 if _18 is _missing else _18, self._19 if _19 is _missing else _19, self._20 if _20 is _missing else _20, self._21 if _21 is _missing else _21, self._22 if _22 is _missing else _22)

def changed_3(self, _0, _1, _2):
    return self.__class__(self._0 if _0 is _missing else _0, self._1 if _1 is _missing else _1, self._2 if _2 is _missing else _2)

def changed_4(self, _0, _1, _2, _3):
    return self.__class__(self._0 if _0 is _missing else _0, self._1 if _1 is _missing else _1, self._2 if _2 is _missing else _2, self._3 if _3 is _missing else _3)

def changed_5(self, _0, _1, _2, _3, _4):
    return self.__class__(self._0 if _0 is _missing else _0, self._1 if _1 is _missing else _1, self._2 if _2 is _missing else _2, self._3 if _3 is _missing else _3, self._4 if _4 is _missing else _4)

def changed_6(self, _0, _1, _2, _3, _4, _5):
    return self.__class__(self._0 if _0 is _missing else _0, self._1 if _1 is _missing else _1, self._2 if _2 is _missing else _2, self._3 if _3 is _missing else _3, self._4 if _4 is _missing else _4, self._5 if _5 is _missing else _5)

def changed_7(self, _0, _1, _2, _3, _4, _5, _6):
    return self.__class__(self._0 if _0 is _missing else _0, self._1 if _1 is _missing else _1, self._2 if _2 is _missing else _2, self._3 if _3 is _missing else _3, self._4 if _4 is _missing else _4, self._5 if _5 is _missing else _5, self._6 if _6 is _missing else _6)

def changed_8(self, _0, _1, _2, _3, _4, _5, _6, _7):
    return self.__class__(self._0 if _0 is _missing else _0, self._1 if _1 is _missing else _1, self._2 if _2 is _missing else _2, self._3 if _3 is _missing else _3, self._4 if _4 is _missing else _4, self._5 if _5 is _missing else _5, self._6 if _6 is _missing else _6, self._7 if _7 is _missing else _7)

def changed_9(self, _0, _1, _2, _3, _4, _5, _6, _7, _8):
    return self.__class__(self._0 if _0 is _missing else _0, self._1 if _1 is _missing else _1, self._2 if _2 is _missing else _2, self._3 if _3 is _missing else _3, self._4 if _4 is _missing else _4, self._5 if _5 is _missing else _5, self._6 if _6 is _missing else _6, self._7 if _7 is _missing else _7, self._8 if _8 is _missing else _8)

def eq_11(self, other):
    if other is self:
        return True
    return (self._0, self._1, self._2, self._3, self._4, self._5, self._6, self._7, self._8, self._9, self._10, ) == (other._0, other._1, other._2, other._3, other._4, other._5, other._6, other._7, other._8, other._9, other._10, ) if other.__class__ is self.__class__ else NotImplemented

def eq_2(self, other):
    if other is self:
        return True
    return (self._0, self._1, ) == (other._0, other._1, ) if other.__class__ is self.__class__ else NotImplemented

def eq_3(self, other):
    if other is self:
        return True
    return (self._0, self._1, self._2, ) == (other._0, other._1, other._2, ) if other.__class__ is self.__class__ else NotImplemented

def eq_4(self, other):
    if other is self:
        return True
    return (self._0, self._1, self._2, self._3, ) == (other._0, other._1, other._2, other._3, ) if other.__class__ is self.__class__ else NotImplemented

def eq_5(self, other):
    if other is self:
        return True
    return (self._0, self._1, self._2, self._3, self._4, ) == (other._0, other._1, other._2, other._3, other._4, ) if other.__class__ is self.__class__ else NotImplemented

def hash_10(self):
    return hash((self._0, self._1, self._2, self._3, self._4, self._5, self._6, self._7, self._8, self._9, ))

def hash_11(self):
    return hash((self._0, self._1, self._2, self._3, self._4, self._5, self._6, self._7, self._8, self._9, self._10, ))

def hash_2(self):
    return hash((self._0, self._1, ))

def hash_3(self):
    return hash((self._0, self._1, self._2, ))

def hash_4(self):
    return hash((self._0, self._1, self._2, self._3, ))

def hash_5(self):
    return hash((self._0, self._1, self._2, self._3, self._4, ))

def init_PP(self, _0, _1):
    self._0 = _default0() if _0 is _missing else _0
    self._1 = _default1() if _1 is _missing else _1

def init_PPPPP(self, _0, _1, _2, _3, _4):
    self._0 = _default0() if _0 is _missing else _0
    self._1 = _default1() if _1 is _missing else _1
    self._2 = _default2() if _2 is _missing else _2
    self._3 = _default3() if _3 is _missing else _3
    self._4 = _default4() if _4 is _missing else _4

def init_PPPPPP(self, _0, _1, _2, _3, _4, _5):
    self._0 = _default0() if _0 is _missing else _0
    self._1 = _default1() if _1 is _missing else _1
    self._2 = _default2() if _2 is _missing else _2
    self._3 = _default3() if _3 is _missing else _3
    self._4 = _default4() if _4 is _missing else _4
    self._5 = _default5() if _5 is _missing else _5

def init_PPPPPPP(self, _0, _1, _2, _3, _4, _5, _6):
    self._0 = _default0() if _0 is _missing else _0
    self._1 = _default1() if _1 is _missing else _1
    self._2 = _default2() if _2 is _missing else _2
    self._3 = _default3() if _3 is _missing else _3
    self._4 = _default4() if _4 is _missing else _4
    self._5 = _default5() if _5 is _missing else _5
    self._6 = _default6() if _6 is _missing else _6

def init_PPPPpP(self, _0, _1, _2, _3, _4, _5):
    self._0 = _default0() if _0 is _missing else _0
    self._1 = _default1() if _1 is _missing else _1
    self._2 = _default2() if _2 is _missing else _2
    self._3 = _default3() if _3 is _missing else _3
    self._4 = _4
    self._5 = _default5() if _5 is _missing else _5

def init_PpppPPpP(self, _0, _1, _2, _3, _4, _5, _6, _7):
    self._0 = _default0() if _0 is _missing else _0
    self._1 = _1
    self._2 = _2
    self._3 = _3
    self._4 = _default4() if _4 is _missing else _4
    self._5 = _default5() if _5 is _missing else _5
    self._6 = _6
    self._7 = _default7() if _7 is _missing else _7

def init_Ss(self, _0, _1):
    _set0(self, _default0() if _0 is _missing else _0)
    _set1(self, _1)

def init_p(self, _0):
    self._0 = _0

def init_pP(self, _0, _1):
    self._0 = _0
    self._1 = _default1() if _1 is _missing else _1

def init_pPP(self, _0, _1, _2):
    self._0 = _0
    self._1 = _default1() if _1 is _missing else _1
    self._2 = _default2() if _2 is _missing else _2

def init_pPp(self, _0, _1, _2):
    self._0 = _0
    self._1 = _default1() if _1 is _missing else _1
    self._2 = _2

def init_ppPpppP(self, _0, _1, _2, _3, _4, _5, _6):
    self._0 = _0
    self._1 = _1
    self._2 = _default2() if _2 is _missing else _2
    self._3 = _3
    self._4 = _4
    self._5 = _5
    self._6 = _default6() if _6 is _missing else _6

def init_ppp(self, _0, _1, _2):
    self._0 = _0
    self._1 = _1
    self._2 = _2

def init_pppPP(self, _0, _1, _2, _3, _4):
    self._0 = _0
    self._1 = _1
    self._2 = _2
    self._3 = _default3() if _3 is _missing else _3
    self._4 = _default4() if _4 is _missing else _4

def init_pppPPPPPP(self, _0, _1, _2, _3, _4, _5, _6, _7, _8):
    self._0 = _0
    self._1 = _1
    self._2 = _2
    self._3 = _default3() if _3 is _missing else _3
    self._4 = _default4() if _4 is _missing else _4
    self._5 = _default5() if _5 is _missing else _5
    self._6 = _default6() if _6 is _missing else _6
    self._7 = _default7() if _7 is _missing else _7
    self._8 = _default8() if _8 is _missing else _8

def init_pppp(self, _0, _1, _2, _3):
    self._0 = _0
    self._1 = _1
    self._2 = _2
    self._3 = _3

def init_ppppP(self, _0, _1, _2, _3, _4):
    self._0 = _0
    self._1 = _1
    self._2 = _2
    self._3 = _3
    self._4 = _default4() if _4 is _missing else _4

def init_ppppPPPPpppppPpP(self, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15):
    self._0 = _0
    self._1 = _1
    self._2 = _2
    self._3 = _3
    self._4 = _default4() if _4 is _missing else _4
    self._5 = _default5() if _5 is _missing else _5
    self._6 = _default6() if _6 is _missing else _6
    self._7 = _default7() if _7 is _missing else _7
    self._8 = _8
    self._9 = _9
    self._10 = _10
    self._11 = _11
    self._12 = _12
    self._13 = _default13() if _13 is _missing else _13
    self._14 = _14
    self._15 = _default15() if _15 is _missing else _15

def init_ppppp(self, _0, _1, _2, _3, _4):
    self._0 = _0
    self._1 = _1
    self._2 = _2
    self._3 = _3
    self._4 = _4

def init_pppppP(self, _0, _1, _2, _3, _4, _5):
    self._0 = _0
    self._1 = _1
    self._2 = _2
    self._3 = _3
    self._4 = _4
    self._5 = _default5() if _5 is _missing else _5

def init_pppppPPPPPPp(self, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11):
    self._0 = _0
    self._1 = _1
    self._2 = _2
    self._3 = _3
    self._4 = _4
    self._5 = _default5() if _5 is _missing else _5
    self._6 = _default6() if _6 is _missing else _6
    self._7 = _default7() if _7 is _missing else _7
    self._8 = _default8() if _8 is _missing else _8
    self._9 = _default9() if _9 is _missing else _9
    self._10 = _default10() if _10 is _missing else _10
    self._11 = _11

def init_pppppPpP(self, _0, _1, _2, _3, _4, _5, _6, _7):
    self._0 = _0
    self._1 = _1
    self._2 = _2
    self._3 = _3
    self._4 = _4
    self._5 = _default5() if _5 is _missing else _5
    self._6 = _6
    self._7 = _default7() if _7 is _missing else _7

def init_pppppp(self, _0, _1, _2, _3, _4, _5):
    self._0 = _0
    self._1 = _1
    self._2 = _2
    self._3 = _3
    self._4 = _4
    self._5 = _5

def init_ppppppp(self, _0, _1, _2, _3, _4, _5, _6):
    self._0 = _0
    self._1 = _1
    self._2 = _2
    self._3 = _3
    self._4 = _4
    self._5 = _5
    self._6 = _6

def init_pppppppPppppppp(self, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14):
    self._0 = _0
    self._1 = _1
    self._2 = _2
    self._3 = _3
    self._4 = _4
    self._5 = _5
    self._6 = _6
    self._7 = _default7() if _7 is _missing else _7
    self._8 = _8
    self._9 = _9
    self._10 = _10
    self._11 = _11
    self._12 = _12
    self._13 = _13
    self._14 = _14

def init_pppppppp(self, _0, _1, _2, _3, _4, _5, _6, _7):
    self._0 = _0
    self._1 = _1
    self._2 = _2
    self._3 = _3
    self._4 = _4
    self._5 = _5
    self._6 = _6
    self._7 = _7

def init_ppppppppPp(self, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9):
    self._0 = _0
    self._1 = _1
    self._2 = _2
    self._3 = _3
    self._4 = _4
    self._5 = _5
    self._6 = _6
    self._7 = _7
    self._8 = _default8() if _8 is _missing else _8
    self._9 = _9

def init_ppppppppPppPpppPppppppp(self, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22):
    self._0 = _0
    self._1 = _1
    self._2 = _2
    self._3 = _3
    self._4 = _4
    self._5 = _5
    self._6 = _6
    self._7 = _7
    self._8 = _default8() if _8 is _missing else _8
    self._9 = _9
    self._10 = _10
    self._11 = _default11() if _11 is _missing else _11
    self._12 = _12
    self._13 = _13
    self._14 = _14
    self._15 = _default15() if _15 is _missing else _15
    self._16 = _16
    self._17 = _17
    self._18 = _18
    self._19 = _19
    self._20 = _20
    self._21 = _21
    self._22 = _22

def init_ppppppppp(self, _0, _1, _2, _3, _4, _5, _6, _7, _8):
    self._0 = _0
    self._1 = _1
    self._2 = _2
    self._3 = _3
    self._4 = _4
    self._5 = _5
    self._6 = _6
    self._7 = _7
    self._8 = _8

def init_pppppppppppPPPP(self, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14):
    self._0 = _0
    self._1 = _1
    self._2 = _2
    self._3 = _3
    self._4 = _4
    self._5 = _5
    self._6 = _6
    self._7 = _7
    self._8 = _8
    self._9 = _9
    self._10 = _10
    self._11 = _default11() if _11 is _missing else _11
    self._12 = _default12() if _12 is _missing else _12
    self._13 = _default13() if _13 is _missing else _13
    self._14 = _default14() if _14 is _missing else _14

def init_pppppppppppp(self, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11):
    self._0 = _0
    self._1 = _1
    self._2 = _2
    self._3 = _3
    self._4 = _4
    self._5 = _5
    self._6 = _6
    self._7 = _7
    self._8 = _8
    self._9 = _9
    self._10 = _10
    self._11 = _11

def init_ppppppppppppppPpppppp(self, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20):
    self._0 = _0
    self._1 = _1
    self._2 = _2
    self._3 = _3
    self._4 = _4
    self._5 = _5
    self._6 = _6
    self._7 = _7
    self._8 = _8
    self._9 = _9
    self._10 = _10
    self._11 = _11
    self._12 = _12
    self._13 = _13
    self._14 = _default14() if _14 is _missing else _14
    self._15 = _15
    self._16 = _16
    self._17 = _17
    self._18 = _18
    self._19 = _19
    self._20 = _20

def init_s(self, _0):
    _set0(self, _0)

def init_ss(self, _0, _1):
    _set0(self, _0)
    _set1(self, _1)

def init_ssSS_post(self, _0, _1, _2, _3):
    _set0(self, _0)
    _set1(self, _1)
    _set2(self, _default2() if _2 is _missing else _2)
    _set3(self, _default3() if _3 is _missing else _3)
    self.__post_init__()

def init_sss(self, _0, _1, _2):
    _set0(self, _0)
    _set1(self, _1)
    _set2(self, _2)

def init_ssss(self, _0, _1, _2, _3):
    _set0(self, _0)
    _set1(self, _1)
    _set2(self, _2)
    _set3(self, _3)

def init_sssss(self, _0, _1, _2, _3, _4):
    _set0(self, _0)
    _set1(self, _1)
    _set2(self, _2)
    _set3(self, _3)
    _set4(self, _4)

def init_ssssss(self, _0, _1, _2, _3, _4, _5):
    _set0(self, _0)
    _set1(self, _1)
    _set2(self, _2)
    _set3(self, _3)
    _set4(self, _4)
    _set5(self, _5)

def init_sssssss(self, _0, _1, _2, _3, _4, _5, _6):
    _set0(self, _0)
    _set1(self, _1)
    _set2(self, _2)
    _set3(self, _3)
    _set4(self, _4)
    _set5(self, _5)
    _set6(self, _6)

def init_ssssssss(self, _0, _1, _2, _3, _4, _5, _6, _7):
    _set0(self, _0)
    _set1(self, _1)
    _set2(self, _2)
    _set3(self, _3)
    _set4(self, _4)
    _set5(self, _5)
    _set6(self, _6)
    _set7(self, _7)

def init_sssssssss(self, _0, _1, _2, _3, _4, _5, _6, _7, _8):
    _set0(self, _0)
    _set1(self, _1)
    _set2(self, _2)
    _set3(self, _3)
    _set4(self, _4)
    _set5(self, _5)
    _set6(self, _6)
    _set7(self, _7)
    _set8(self, _8)

def init_ssssssssss(self, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9):
    _set0(self, _0)
    _set1(self, _1)
    _set2(self, _2)
    _set3(self, _3)
    _set4(self, _4)
    _set5(self, _5)
    _set6(self, _6)
    _set7(self, _7)
    _set8(self, _8)
    _set9(self, _9)

def init_ssssssssssSSsSsssssssssss(self, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24):
    _set0(self, _0)
    _set1(self, _1)
    _set2(self, _2)
    _set3(self, _3)
    _set4(self, _4)
    _set5(self, _5)
    _set6(self, _6)
    _set7(self, _7)
    _set8(self, _8)
    _set9(self, _9)
    _set10(self, _default10() if _10 is _missing else _10)
    _set11(self, _default11() if _11 is _missing else _11)
    _set12(self, _12)
    _set13(self, _default13() if _13 is _missing else _13)
    _set14(self, _14)
    _set15(self, _15)
    _set16(self, _16)
    _set17(self, _17)
    _set18(self, _18)
    _set19(self, _19)
    _set20(self, _20)
    _set21(self, _21)
    _set22(self, _22)
    _set23(self, _23)
    _set24(self, _24)

def init_sssssssssss(self, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10):
    _set0(self, _0)
    _set1(self, _1)
    _set2(self, _2)
    _set3(self, _3)
    _set4(self, _4)
    _set5(self, _5)
    _set6(self, _6)
    _set7(self, _7)
    _set8(self, _8)
    _set9(self, _9)
    _set10(self, _10)

def init_ssssssssssssss(self, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13):
    _set0(self, _0)
    _set1(self, _1)
    _set2(self, _2)
    _set3(self, _3)
    _set4(self, _4)
    _set5(self, _5)
    _set6(self, _6)
    _set7(self, _7)
    _set8(self, _8)
    _set9(self, _9)
    _set10(self, _10)
    _set11(self, _11)
    _set12(self, _12)
    _set13(self, _13)

def init_sssssssssssssssss(self, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16):
    _set0(self, _0)
    _set1(self, _1)
    _set2(self, _2)
    _set3(self, _3)
    _set4(self, _4)
    _set5(self, _5)
    _set6(self, _6)
    _set7(self, _7)
    _set8(self, _8)
    _set9(self, _9)
    _set10(self, _10)
    _set11(self, _11)
    _set12(self, _12)
    _set13(self, _13)
    _set14(self, _14)
    _set15(self, _15)
    _set16(self, _16)

def init_ww(self, _0, _1):
    _write(self, _name0, _0)
    _write(self, _name1, _1)

def init_www(self, _0, _1, _2):
    _write(self, _name0, _0)
    _write(self, _name1, _1)
    _write(self, _name2, _2)

def init_wwww(self, _0, _1, _2, _3):
    _write(self, _name0, _0)
    _write(self, _name1, _1)
    _write(self, _name2, _2)
    _write(self, _name3, _3)

def init_wwwwwww(self, _0, _1, _2, _3, _4, _5, _6):
    _write(self, _name0, _0)
    _write(self, _name1, _1)
    _write(self, _name2, _2)
    _write(self, _name3, _3)
    _write(self, _name4, _4)
    _write(self, _name5, _5)
    _write(self, _name6, _6)

def init_wwwwwwwwwww(self, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10):
    _write(self, _name0, _0)
    _write(self, _name1, _1)
    _write(self, _name2, _2)
    _write(self, _name3, _3)
    _write(self, _name4, _4)
    _write(self, _name5, _5)
    _write(self, _name6, _6)
    _write(self, _name7, _7)
    _write(self, _name8, _8)
    _write(self, _name9, _9)
    _write(self, _name10, _10)
