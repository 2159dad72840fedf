import { BsonType, CommandError, RawValue, readInt32, type StringComparator } from '@shardlab/bson'
import { compileExpression } from '../aggregation/expressions/compile.js'
import { reportFoldError, type EvaluationContext } from '../context.js'
import { newestLanguage } from '../language/language.js'
import { fieldPath } from '../path/field-path.js'
import { anyElement, anyValue, anyValueBelow, positionInOutermostArray, type ValueTest } from '../path/walk.js'
import type { FilterNode } from './ast.js'
import type { FilterFeatures } from './features.js'
import { compileFieldTable, maxTableEntries, type FieldEntry } from './field-table.js'
import type { DocumentTest, FilterCompiler } from './operator.js'
import { compileJsonSchema } from './json-schema/compile.js'
import { compileLeaf, isPathNode } from './operators/table.js'
import { parseFilter } from './parse.js'

/** Documents must have passed validation. */
export interface Filter {
  matches(document: Uint8Array): boolean
  readonly root: FilterNode
  /**
   * Index of the array element that made the document match, for the positional operator `$`. The
   * last predicate that passes through an array decides. -1: none does.
   */
  matchedPosition(document: Uint8Array): number
  /** The collation's comparison; undefined: by bytes. */
  readonly strings: StringComparator | undefined
  readonly context: EvaluationContext
  part(node: FilterNode): Filter
}

/**
 * @param features allowed by the context of the filter; default all, as in the filter of a
 *   command
 * @throws CommandError BadValue (2) and the errors of the operators, with the server's messages
 */
export function compileFilter(filter: Uint8Array, context: EvaluationContext, features?: FilterFeatures): Filter {
  return compileFilterNode(parseFilter(filter, features, context.language), context)
}

export function compileFilterNode(root: FilterNode, context: EvaluationContext): Filter {
  const compiler = compilerOf(context)
  const test = compiler.compileDocument(root)
  return {
    root,
    strings: context.strings,
    context,
    part: (node) => compileFilterNode(node, context),
    matches: interruptibly(context, (document) => test(document, 0)),
    matchedPosition: (document) => matchedPosition(root, document, compiler),
  }
}

function interruptibly(context: EvaluationContext, matches: Filter['matches']): Filter['matches'] {
  if (context.checkForInterrupt === undefined) return matches
  return (document) => {
    context.checkForInterrupt!()
    return matches(document)
  }
}

function compilerOf(context: EvaluationContext): FilterCompiler {
  const compiler: FilterCompiler = {
    strings: context.strings,
    undefinedMatchesNull: context.undefinedMatchesNull ?? false,
    checkForInterrupt: context.checkForInterrupt,
    compileDocument: (node) => compileDocument(node, compiler, context, 1),
    compileValue: (node) => compileValue(node, compiler),
  }
  return compiler
}

/** @param level of the tree, 1 for its root */
function compileDocument(
  node: FilterNode,
  compiler: FilterCompiler,
  context: EvaluationContext,
  level: number,
): DocumentTest {
  switch (node.kind) {
    case 'and':
      return compileAnd(node.children, compiler, context, level)
    case 'or': {
      const tests = node.children.map((child) => compileDocument(child, compiler, context, level + 1))
      return (bytes, start) => {
        for (let i = 0; i < tests.length; i++) if (tests[i]!(bytes, start)) return true
        return false
      }
    }
    case 'nor': {
      const tests = node.children.map((child) => compileDocument(child, compiler, context, level + 1))
      return (bytes, start) => {
        for (let i = 0; i < tests.length; i++) if (tests[i]!(bytes, start)) return false
        return true
      }
    }
    case 'not': {
      const test = compileDocument(node.child, compiler, context, level + 1)
      return (bytes, start) => !test(bytes, start)
    }
    case 'always':
      return () => node.value
    case 'expr': {
      const expression = compileExpression(node.expression, failingToOptimize(context, level))
      return (bytes, start) => expression.evaluateOn(start === 0 ? bytes : bytes.subarray(start))?.isTruthy() ?? false
    }
    case 'jsonSchema': {
      const test = compileJsonSchema(node.schema)
      return (bytes, start) => test(new RawValue(BsonType.object, bytes, start, start + readInt32(bytes, start)))
    }
    default: {
      const { parts } = fieldPath(node.path)
      const { test, leafArrays } = compileLeaf(node, compiler)
      return (bytes, start) => anyValue(bytes, start, parts, 0, leafArrays, test)
    }
  }
}

function compileAnd(
  children: readonly FilterNode[],
  compiler: FilterCompiler,
  context: EvaluationContext,
  level: number,
): DocumentTest {
  const entries: FieldEntry[] = []
  const tests: DocumentTest[] = []
  for (const child of children) {
    const entry = entries.length < maxTableEntries ? fieldEntry(child, compiler) : null
    if (entry === null) tests.push(compileDocument(child, compiler, context, level + 1))
    else entries.push(entry)
  }
  if (entries.length > 0) tests.unshift(compileFieldTable(entries))
  if (tests.length === 0) return () => true
  if (tests.length === 1) return tests[0]!
  return (bytes, start) => {
    for (let i = 0; i < tests.length; i++) if (!tests[i]!(bytes, start)) return false
    return true
  }
}

/** Each level of the tree adds its context. Server: MatchExpression::optimize. */
function failingToOptimize(context: EvaluationContext, levels: number): EvaluationContext {
  if (!(context.language ?? newestLanguage).filterErrorsNameOptimization) return context
  const causes = 'Failed to optimize expression :: caused by :: '.repeat(levels)
  return {
    ...context,
    onFoldError: ({ code, message }) => reportFoldError(context, new CommandError(code, `${causes}${message}`)),
  }
}

/** For a predicate on one path, or its negation; null: the table cannot test it. */
function fieldEntry(node: FilterNode, compiler: FilterCompiler): FieldEntry | null {
  if (node.kind === 'not') {
    const entry = fieldEntry(node.child, compiler)
    if (entry === null) return null
    const { test } = entry
    return { name: entry.name, test: (type, bytes, start, end) => !test(type, bytes, start, end) }
  }
  if (!isPathNode(node)) return null
  const { parts } = fieldPath(node.path)
  const { test, leafArrays } = compileLeaf(node, compiler)
  const name = parts[0]!.bytes
  if (parts.length > 1)
    return {
      name,
      test: (type, bytes, start, end) => anyValueBelow(type, bytes, start, end, parts, 1, leafArrays, test),
    }
  if (leafArrays === 'whole') return { name, test }
  return {
    name,
    test: (type, bytes, start, end) =>
      type === BsonType.array ? anyElement(bytes, start, test) : test(type, bytes, start, end),
  }
}

/** Arrays are not traversed. */
function compileValue(node: FilterNode, compiler: FilterCompiler): ValueTest {
  switch (node.kind) {
    case 'and':
    case 'or':
    case 'nor': {
      const tests = node.children.map((child) => compileValue(child, compiler))
      if (node.kind === 'and') return (type, bytes, start, end) => tests.every((test) => test(type, bytes, start, end))
      const wanted = node.kind === 'or'
      return (type, bytes, start, end) => tests.some((test) => test(type, bytes, start, end)) === wanted
    }
    case 'not': {
      const test = compileValue(node.child, compiler)
      return (type, bytes, start, end) => !test(type, bytes, start, end)
    }
    case 'always':
      return () => node.value
    case 'jsonSchema': {
      const test = compileJsonSchema(node.schema)
      return (type, bytes, start, end) => type === BsonType.object && test(new RawValue(type, bytes, start, end))
    }
    case 'expr':
      return () => false
    default:
      return compileLeaf(node, compiler).test
  }
}

function matchedPosition(node: FilterNode, document: Uint8Array, compiler: FilterCompiler): number {
  switch (node.kind) {
    case 'and':
    case 'or': {
      let position = -1
      for (const child of node.children) {
        const found = matchedPosition(child, document, compiler)
        if (found >= 0) position = found
      }
      return position
    }
    case 'elemMatchObject':
    case 'elemMatchValue':
      return elementPosition(node, document, compiler)
    case 'nor':
    case 'not':
    case 'expr':
    case 'jsonSchema':
    case 'always':
      return -1
    default: {
      const { test, leafArrays } = compileLeaf(node, compiler)
      return positionInOutermostArray(document, fieldPath(node.path).parts, leafArrays, test)
    }
  }
}

/** The position of $elemMatch is that of an element of the array itself. */
function elementPosition(
  node: Extract<FilterNode, { kind: 'elemMatchObject' | 'elemMatchValue' }>,
  document: Uint8Array,
  compiler: FilterCompiler,
): number {
  const { parts } = fieldPath(node.path)
  let elementTest: ValueTest
  if (node.kind === 'elemMatchObject') {
    const child = compiler.compileDocument(node.child)
    elementTest = (type, bytes, start) => (type === BsonType.object || type === BsonType.array) && child(bytes, start)
  } else {
    const tests = node.children.map((child) => compiler.compileValue(child))
    elementTest = (type, bytes, start, end) => tests.every((test) => test(type, bytes, start, end))
  }
  return positionInOutermostArray(document, parts, 'elements', elementTest)
}
