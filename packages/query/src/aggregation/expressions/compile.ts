/** Server: pipeline/expression.cpp. */
import {
  BsonType,
  CommandError,
  DocumentWriter,
  documentValue,
  elementsOf,
  FieldIterator,
  firstFieldName,
  RawValue,
} from '@shardlab/bson'
import { findOperator, reportFoldError, unboundVariable, type EvaluationContext } from '../../context.js'
import { dateValue, timestampValue } from '../../values/build.js'
import { computed, constant, type Expression, type ExpressionCompiler, type Frame } from './expression.js'
import { checkFieldPath, fieldPathExpression, valueAt } from './field-path.js'
import { formatDocument } from '../../values/format.js'
import { checkValueBytes } from '../../values/limits.js'
import { expressionOperators } from './table.js'
import { checkVariableRead } from './variable-name.js'
import { newestLanguage } from '../../language/language.js'

export interface DocumentExpression {
  evaluateOn(document: Uint8Array): RawValue | undefined
  readonly constant: Expression['constant']
  /** Some part of it reads the document, even if only under a condition. */
  readonly readsDocument: boolean
}

interface CompilationState {
  slots: number
  document: boolean
}

/**
 * @throws CommandError 168 InvalidPipelineOperator for an unknown operator, 15983 for an object
 *   with an operator and other fields, 17276 for an undefined variable
 */
export function compileExpression(value: RawValue, context: EvaluationContext): DocumentExpression {
  const state: CompilationState = { slots: 0, document: false }
  const expression = compiler(context, new Map(), state).compile(value)
  return {
    evaluateOn: (document) => expression.evaluate({ root: document, slots: [] }),
    constant: expression.constant,
    readsDocument: state.document,
  }
}

/**
 * For embedded documents: field paths begin at `$$CURRENT`, which is passed separately from
 * `$$ROOT`.
 */
export function compileOnCurrent(
  value: RawValue,
  context: EvaluationContext,
): (root: Uint8Array, current: RawValue) => RawValue | undefined {
  const { compiler: inner, slots } = compiler(context, new Map(), { slots: 0, document: false }).withVariables([
    'CURRENT',
  ])
  const expression = inner.compile(value)
  return (root, current) => {
    const values: RawValue[] = []
    values[slots[0]!] = current
    return expression.evaluate({ root, slots: values })
  }
}

function compiler(
  context: EvaluationContext,
  scope: ReadonlyMap<string, number>,
  state: CompilationState,
): ExpressionCompiler {
  const self: ExpressionCompiler = {
    context,
    compile: (value) => compile(value, self, scope, state),
    withVariables(names) {
      const inner = new Map(scope)
      const slots = names.map((name) => {
        const slot = state.slots++
        inner.set(name, slot)
        return slot
      })
      return { compiler: compiler(context, inner, state), slots }
    },
  }
  return self
}

function compile(
  value: RawValue,
  self: ExpressionCompiler,
  scope: ReadonlyMap<string, number>,
  state: CompilationState,
): Expression {
  switch (value.type) {
    case BsonType.string: {
      const text = value.asString()
      if (text === '$') throw new CommandError(16872, "'$' by itself is not a valid FieldPath")
      if (text.startsWith('$$')) return variable(text.slice(2), self.context, scope, state)
      return text.startsWith('$') ? fromCurrent(text.slice(1), scope, state) : constant(value)
    }
    case BsonType.object:
      return compileObject(value, self)
    case BsonType.array:
      return compileArray(value, self)
    default:
      return constant(value)
  }
}

function compileObject(value: RawValue, self: ExpressionCompiler): Expression {
  const document = value.slice()
  const name = firstFieldName(document)
  if (name?.startsWith('$')) {
    const it = new FieldIterator(document)
    it.next()
    const argument = it.value()
    if (it.next())
      throw new CommandError(15983, `an object representing an expression must have exactly one field: ${name}`)
    return compileOperator(name, argument, self)
  }
  const { errorsSuggestGetField } = self.context.language ?? newestLanguage
  const hint = errorsSuggestGetField ? ' Consider using $getField or $setField.' : ''
  const fields: { name: string; expression: Expression }[] = []
  for (const it = new FieldIterator(document); it.next();) {
    const field = it.name()
    if (field.startsWith('$')) throw new CommandError(16410, `FieldPath field names may not start with '$'.${hint}`)
    if (field.includes('.')) throw new CommandError(16412, `FieldPath field names may not contain '.'.${hint}`)
    if (fields.some(({ name: earlier }) => earlier === field))
      throw new CommandError(16406, `duplicate field name specified in object literal: ${formatDocument(document)}`)
    fields.push({ name: field, expression: self.compile(it.value()) })
  }
  return computed(
    fields.map((field) => field.expression),
    (frame) => {
      const writer = new DocumentWriter()
      for (const field of fields) {
        const result = field.expression.evaluate(frame)
        if (result !== undefined) writer.value(field.name, result)
        checkValueBytes('An object', writer.length)
      }
      return documentValue(writer.finish())
    },
  )
}

export function compileOperator(name: string, argument: RawValue, self: ExpressionCompiler): Expression {
  const operator = findOperator('expression', expressionOperators, name, self.context)
  if (operator === undefined) {
    const [code, text] = (self.context.language ?? newestLanguage).unknownExpression
    throw new CommandError(code, `${text} '${name}'`)
  }
  const expression = operator.compile(argument, self)
  if (expression.foldError !== undefined) reportFoldError(self.context, expression.foldError)
  return expression
}

function compileArray(value: RawValue, self: ExpressionCompiler): Expression {
  const elements = elementsOf(value).map((element) => self.compile(element))
  return computed(elements, (frame) => {
    const writer = new DocumentWriter()
    elements.forEach((element, index) => {
      const result = element.evaluate(frame)
      if (result === undefined) writer.null(String(index))
      else writer.value(String(index), result)
      checkValueBytes('An array', writer.length)
    })
    const bytes = writer.finish()
    return new RawValue(BsonType.array, bytes, 0, bytes.length)
  })
}

function fromCurrent(path: string, scope: ReadonlyMap<string, number>, state: CompilationState): Expression {
  const slot = scope.get('CURRENT')
  if (slot !== undefined) return fieldPathExpression(slotOf(slot), path)
  state.document = true
  return fieldPathExpression(rootOf, path)
}

const rootOf = (frame: Frame): RawValue => documentValue(frame.root)

function slotOf(slot: number): (frame: Frame) => RawValue | undefined {
  return (frame) => frame.slots[slot]
}

function variable(
  text: string,
  context: EvaluationContext,
  scope: ReadonlyMap<string, number>,
  state: CompilationState,
): Expression {
  const dot = text.indexOf('.')
  const name = dot < 0 ? text : text.slice(0, dot)
  const path = dot < 0 ? '' : text.slice(dot + 1)
  checkVariableRead(name)
  const slot = scope.get(name)
  if (slot !== undefined) return fieldPathExpression(slotOf(slot), path)
  if (context.variables?.has(name)) {
    const given = context.variables.get(name)
    if (given === unboundVariable) return fieldPathExpression(() => undefined, path)
    return path === '' || given === undefined ? constant(given) : constant(valueAt(given, checkFieldPath(path), 0))
  }
  switch (name) {
    case 'ROOT':
    case 'CURRENT':
      state.document = true
      return fieldPathExpression(rootOf, path)
    case 'REMOVE':
    case 'NOW':
    case 'CLUSTER_TIME':
      if (!(context.language ?? newestLanguage).has('variable', name)) break
      return name !== 'REMOVE' && context.lacksRuntimeConstants === true
        ? computed([], () => withoutValue(name))
        : constant(systemValue(name, context))
  }
  throw new CommandError(17276, `Use of undefined variable: ${name}`)
}

/** Server: Variables::getValue. */
function withoutValue(name: string): never {
  throw new CommandError(51144, `Builtin variable '$$${name}' is not available`)
}

function systemValue(name: 'REMOVE' | 'NOW' | 'CLUSTER_TIME', context: EvaluationContext): RawValue | undefined {
  switch (name) {
    case 'REMOVE':
      return undefined
    case 'NOW':
      return dateValue(context.now())
    case 'CLUSTER_TIME':
      return timestampValue(...(context.clusterTime?.() ?? [Math.floor(context.now() / 1000), 1]))
  }
}
