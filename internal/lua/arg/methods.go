package arg

import (
	glua "github.com/yuin/gopher-lua"
)

// operation returns what an instruction of the virtual machine does: its
// highest 6 bits.
func operation(instruction uint32) int { return int(instruction >> 26) }

// target returns the register that an instruction writes or calls, its
// operand A: the 8 bits below.
func target(instruction uint32) uint32 { return instruction >> 18 & 0xff }

// MarkMethods marks the calls of methods in a compiled function and in those
// inside it, so that errors about their arguments do not count self. It is
// called once, before the function runs.
func MarkMethods(proto *glua.FunctionProto) {
	for i, call := range proto.DbgCalls {
		if call.Name != unnamed && isMethod(proto.Code, call.Pc) {
			proto.DbgCalls[i].Name = methodMark + call.Name
		}
	}
	for _, inner := range proto.FunctionPrototypes {
		MarkMethods(inner)
	}
}

// isMethod tells whether the function that the instruction at pc calls was
// fetched by a SELF, the last one before it that wrote its register.
func isMethod(code []uint32, pc int) bool {
	callee := target(code[pc])
	for at := pc - 1; at >= 0; at-- {
		if target(code[at]) != callee {
			continue
		}
		switch operation(code[at]) {
		case glua.OP_SELF:
			return true
		case glua.OP_MOVE, glua.OP_GETGLOBAL, glua.OP_GETTABLE, glua.OP_GETTABLEKS,
			glua.OP_GETUPVAL, glua.OP_CLOSURE, glua.OP_CALL:
			return false
		}
	}
	return false
}
