import { BsonType, boolValue, CommandError, elementsOf, FieldIterator, type RawValue } from '@shardlab/bson'
import { newestLanguage } from '../../../../language/language.js'
import { arityError, isNullish, lazyOperator, namedArguments, operandsOf, typeOf, unary } from '../../arguments.js'
import {
  computed,
  constant,
  type Expression,
  type ExpressionCompiler,
  type ExpressionOperator,
} from '../../expression.js'

function truth(value: RawValue | undefined): boolean {
  return value?.isTruthy() ?? false
}

function compileCond(argument: RawValue, compiler: ExpressionCompiler): Expression {
  let operands: Expression[]
  if (argument.type === BsonType.object) {
    const known = ['if', 'then', 'else']
    const fields = namedArguments('$cond', argument, known, { notObject: 17080, unknown: 17083 })
    operands = known.map((name, index) => {
      const value = fields.get(name)
      if (value === undefined) throw new CommandError(17080 + index, `Missing '${name}' parameter to $cond`)
      return compiler.compile(value)
    })
  } else {
    operands = operandsOf(argument, compiler)
    if (operands.length !== 3)
      throw new CommandError(16020, `Expression $cond takes exactly 3 arguments. ${operands.length} were passed in.`)
  }
  const [condition, then, otherwise] = operands as [Expression, Expression, Expression]
  return computed(operands, (frame) => (truth(condition.evaluate(frame)) ? then : otherwise).evaluate(frame))
}

interface Branch {
  readonly condition: Expression
  readonly then: Expression
}

function branchesOf(value: RawValue, compiler: ExpressionCompiler): Branch[] {
  if (value.type !== BsonType.array)
    throw new CommandError(40061, `$switch expected an array for 'branches', found: ${typeOf(value)}`)
  return elementsOf(value).map((branch) => {
    if (branch.type !== BsonType.object)
      throw new CommandError(40062, `$switch expected each branch to be an object, found: ${typeOf(branch)}`)
    let condition: Expression | null = null
    let then: Expression | null = null
    for (const it = new FieldIterator(branch.bytes, branch.start); it.next();) {
      if (it.name() === 'case') condition = compiler.compile(it.value())
      else if (it.name() === 'then') then = compiler.compile(it.value())
      else throw new CommandError(40063, `$switch found an unknown argument to a branch: ${it.name()}`)
    }
    if (condition === null) throw new CommandError(40064, "$switch requires each branch have a 'case' expression")
    if (then === null) throw new CommandError(40065, "$switch requires each branch have a 'then' expression.")
    return { condition, then }
  })
}

function compileSwitch(argument: RawValue, compiler: ExpressionCompiler): Expression {
  if (argument.type !== BsonType.object)
    throw new CommandError(40060, `$switch requires an object as an argument, found: ${typeOf(argument)}`)
  let compiled: readonly Branch[] = []
  let otherwise: Expression | null = null
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    if (it.name() === 'branches') compiled = branchesOf(it.value(), compiler)
    else if (it.name() === 'default') otherwise = compiler.compile(it.value())
    else throw new CommandError(40067, `$switch found an unknown argument: ${it.name()}`)
  }
  if (compiled.length === 0) throw new CommandError(40068, '$switch requires at least one branch.')
  return {
    constant: null,
    evaluate(frame) {
      for (const { condition, then } of compiled) if (truth(condition.evaluate(frame))) return then.evaluate(frame)
      if (otherwise === null)
        throw new CommandError(
          40066,
          '$switch could not find a matching branch for an input, and no default was specified.',
        )
      return otherwise.evaluate(frame)
    },
  }
}

const ifNull = lazyOperator(
  '$ifNull',
  (operands, frame) => {
    let value: RawValue | undefined
    for (const operand of operands) {
      value = operand.evaluate(frame)
      if (!isNullish(value)) return value
    }
    return value
  },
  2,
)

/** With exactly two arguments, in releases that allow no more. */
function compileIfNull(argument: RawValue, compiler: ExpressionCompiler): Expression {
  if (!(compiler.context.language ?? newestLanguage).has('form', 'ifNullManyArguments')) {
    const given = argument.type === BsonType.array ? elementsOf(argument).length : 1
    if (given !== 2) throw arityError('$ifNull', 2, 2, given)
  }
  return ifNull.compile(argument, compiler)
}

export const booleanExpressions: readonly ExpressionOperator[] = [
  lazyOperator('$and', (operands, frame) => boolValue(operands.every((operand) => truth(operand.evaluate(frame))))),
  lazyOperator('$or', (operands, frame) => boolValue(operands.some((operand) => truth(operand.evaluate(frame))))),
  unary('$not', (value) => boolValue(!truth(value))),
  { ...ifNull, compile: compileIfNull },
  { name: '$cond', manualPage: 'aggregation/cond', status: 'complete', compile: compileCond },
  { name: '$switch', manualPage: 'aggregation/switch', status: 'complete', compile: compileSwitch },
  {
    name: '$literal',
    manualPage: 'aggregation/literal',
    status: 'complete',
    compile: (argument) => constant(argument),
  },
  { name: '$const', manualPage: 'aggregation/literal', status: 'complete', compile: (argument) => constant(argument) },
]
