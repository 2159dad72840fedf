import {
  BsonType,
  CommandError,
  elementsOf,
  FieldIterator,
  typeName,
  type RawValue,
  type StringComparator,
} from '@shardlab/bson'
import { interruptChecker } from '../../values/limits.js'
import {
  computed,
  type Expression,
  type ExpressionCompiler,
  type ExpressionOperator,
  type Frame,
} from './expression.js'

export type Evaluate = (operands: readonly (RawValue | undefined)[]) => RawValue | undefined

/** Without brackets, the argument is the only operand. */
export function operandsOf(argument: RawValue, compiler: ExpressionCompiler): Expression[] {
  return (argument.type === BsonType.array ? elementsOf(argument) : [argument]).map((operand) =>
    compiler.compile(operand),
  )
}

/** All operands are evaluated first. */
export function operator(name: string, min: number, max: number, evaluate: Evaluate): ExpressionOperator {
  return {
    name,
    manualPage: `aggregation/${name.slice(1)}`,
    status: 'complete',
    compile(argument, compiler) {
      const operands = operandsOf(argument, compiler)
      if (operands.length < min || operands.length > max) throw arityError(name, min, max, operands.length)
      const one = operands[0]
      const two = operands[1]
      if (operands.length === 1 && one !== undefined)
        return computed(operands, (frame) => evaluate([one.evaluate(frame)]))
      if (operands.length === 2 && one !== undefined && two !== undefined)
        return computed(operands, (frame) => evaluate([one.evaluate(frame), two.evaluate(frame)]))
      return computed(operands, (frame) => evaluate(operands.map((operand) => operand.evaluate(frame))))
    },
  }
}

export function arityError(name: string, min: number, max: number, given: number): CommandError {
  if (min === max)
    return new CommandError(16020, `Expression ${name} takes exactly ${min} arguments. ${given} were passed in.`)
  return new CommandError(
    28667,
    `Expression ${name} takes at least ${min} arguments, and at most ${max}, but ${given} were passed in.`,
  )
}

/** Evaluates its operands only as far as needed. */
export function lazyOperator(
  name: string,
  evaluate: (operands: readonly Expression[], frame: Frame) => RawValue | undefined,
  min = 0,
): ExpressionOperator {
  return {
    name,
    manualPage: `aggregation/${name.slice(1)}`,
    status: 'complete',
    compile(argument, compiler) {
      const operands = operandsOf(argument, compiler)
      if (operands.length < min)
        throw new CommandError(
          1257300,
          `${name} needs at least ${min === 1 ? 'one argument' : `${min} arguments`}, had: ${operands.length}`,
        )
      return computed(operands, (frame) => evaluate(operands, frame))
    },
  }
}

/** `name: x` or `name: [x]`. */
export function unary(
  name: string,
  evaluate: (value: RawValue | undefined) => RawValue | undefined,
): ExpressionOperator {
  return operator(name, 1, 1, ([value]) => evaluate(value))
}

/** @param make `check` must be called in loops over elements: it ends the operation */
export function withStrings(
  name: string,
  make: (strings: StringComparator | undefined, check: () => void) => ExpressionOperator,
): ExpressionOperator {
  return {
    ...make(undefined, () => {}),
    name,
    compile: (argument, compiler) =>
      make(compiler.context.strings, interruptChecker(compiler.context)).compile(argument, compiler),
  }
}

export function namedArguments(
  name: string,
  argument: RawValue,
  known: readonly string[],
  codes: { notObject: number; unknown: number },
): Map<string, RawValue> {
  if (argument.type !== BsonType.object)
    throw new CommandError(codes.notObject, `${name} only supports an object as its argument`)
  const fields = new Map<string, RawValue>()
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const field = it.name()
    if (!known.includes(field)) throw new CommandError(codes.unknown, `Unrecognized parameter to ${name}: ${field}`)
    fields.set(field, it.value())
  }
  return fields
}

export interface NamedArguments {
  readonly fields: readonly string[]
  /** The error for each required field that is absent. */
  readonly required: Readonly<Record<string, readonly [code: number, message: string]>>
  notObject(type: string, argument: RawValue): CommandError
  unknown(field: string): CommandError
}

/**
 * All operands are evaluated first, in the order of `fields`.
 * @param evaluate also gets the names of the fields that were given
 */
export function namedOperator(
  name: string,
  named: NamedArguments,
  evaluate: (values: readonly (RawValue | undefined)[], given: readonly boolean[]) => RawValue | undefined,
): ExpressionOperator {
  return {
    name,
    manualPage: `aggregation/${name.slice(1)}`,
    status: 'complete',
    compile(argument, compiler) {
      const operands = namedOperands(named, argument, compiler)
      const given = operands.map((operand) => operand !== null)
      return computed(
        operands.filter((operand) => operand !== null),
        (frame) =>
          evaluate(
            operands.map((operand) => operand?.evaluate(frame)),
            given,
          ),
      )
    },
  }
}

/** Null for a field that was not given. */
export function namedOperands(
  named: NamedArguments,
  argument: RawValue,
  compiler: ExpressionCompiler,
): (Expression | null)[] {
  if (argument.type !== BsonType.object) throw named.notObject(typeName(argument.type), argument)
  const given = new Map<string, Expression>()
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const field = it.name()
    if (!named.fields.includes(field)) throw named.unknown(field)
    given.set(field, compiler.compile(it.value()))
  }
  for (const [field, error] of Object.entries(named.required)) if (!given.has(field)) throw new CommandError(...error)
  return named.fields.map((field) => given.get(field) ?? null)
}

/** Missing, null or undefined: most operators return null for it. */
export function isNullish(value: RawValue | undefined): boolean {
  return value === undefined || value.isNullish()
}

/** For messages; `missing` for undefined. */
export function typeOf(value: RawValue | undefined): string {
  return typeName(value?.type)
}
