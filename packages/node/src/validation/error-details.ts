/**
 * `errInfo.details`: why a document fails a validator. The validator is walked as written, clause
 * by clause. Clauses below a negation are reported because they succeeded, all others because they
 * failed. Server: doc_validation_error.cpp.
 */
import { BsonType, CommandError, DocumentWriter, documentsOf, FieldIterator, type RawValue } from '@shardlab/bson'
import { compileExpression, compileFilter, type EvaluationContext } from '@shardlab/query'
import { holds, startDetails, wrapped, writeThrown, type DetailsContext } from './details-writer.js'
import { leafDetails } from './leaf-details.js'
import { jsonSchemaDetails } from './schema-details.js'

/** Larger details are written again without values of validator and document. */
const detailsBytesMax = 8 * 1024 * 1024

/** @returns the fields of `errInfo` after `failingDocumentId`: `[truncated], details` or `note` */
export function validationErrorDetails(
  validator: Uint8Array,
  document: Uint8Array,
  evaluation: EvaluationContext,
): Uint8Array {
  for (const truncate of [false, true]) {
    const details = filterClause(validator, { evaluation, truncate }).details(document, false)
    if (details.length > detailsBytesMax) continue
    const writer = new DocumentWriter(details.length + 64)
    if (truncate) writer.bool('truncated', true)
    return writer.document('details', details).finish()
  }
  return new DocumentWriter(64).string('note', 'detailed error was too large').finish()
}

interface Clause {
  matches(document: Uint8Array): boolean
  /** @param inverted whether the clause is below a negation and matched */
  details(document: Uint8Array, inverted: boolean): Uint8Array
}

function filterClause(filter: Uint8Array, context: DetailsContext): Clause {
  const clauses = clausesOf(filter, context)
  return clauses.length === 1 ? clauses[0]! : treeClause('$and', clauses)
}

function clausesOf(filter: Uint8Array, context: DetailsContext): Clause[] {
  const clauses: Clause[] = []
  for (const it = new FieldIterator(filter); it.next();) {
    const name = it.name()
    const value = it.value()
    switch (name) {
      case '$and':
      case '$or':
      case '$nor':
        clauses.push(
          treeClause(
            name,
            documentsOf(value).map((each) => filterClause(each, context)),
          ),
        )
        break
      case '$comment':
        break
      case '$expr':
        clauses.push(exprClause(value, context))
        break
      case '$jsonSchema':
        clauses.push(
          clause(wrapped(name, value), context, (document, inverted) =>
            jsonSchemaDetails(value, document, inverted, context),
          ),
        )
        break
      case '$alwaysTrue':
      case '$alwaysFalse':
        clauses.push(alwaysClause(name, wrapped(name, value), context))
        break
      default:
        clauses.push(...pathClauses(name, value, context))
    }
  }
  return clauses
}

function clause(filter: Uint8Array, { evaluation }: DetailsContext, details: Clause['details']): Clause {
  const compiled = compileFilter(filter, evaluation)
  return { matches: (document) => holds(() => compiled.matches(document)), details }
}

function treeClause(name: '$and' | '$or' | '$nor', children: readonly Clause[]): Clause {
  const matches = (document: Uint8Array): boolean =>
    name === '$and'
      ? children.every((child) => child.matches(document))
      : children.some((child) => child.matches(document)) === (name === '$or')
  return {
    matches,
    details(document, inverted) {
      // Whether the children that matched are listed, or those that did not.
      const satisfied = name === '$nor' ? !inverted : inverted
      const writer = new DocumentWriter(512)
        .string('operatorName', name)
        .startArray(satisfied ? 'clausesSatisfied' : 'clausesNotSatisfied')
      let count = 0
      children.forEach((child, index) => {
        if (child.matches(document) !== satisfied) return
        writer
          .startDocument(String(count++))
          .int32('index', index)
          .document('details', child.details(document, satisfied))
          .end()
      })
      return writer.end().finish()
    },
  }
}

function exprClause(expression: RawValue, context: DetailsContext): Clause {
  const specifiedAs = wrapped('$expr', expression)
  return clause(specifiedAs, context, (document, inverted) => {
    const writer = startDetails(context, '$expr', specifiedAs)
    try {
      const result = compileExpression(expression, context.evaluation).evaluateOn(document)
      writer.string('reason', inverted ? 'expression did match' : 'expression did not match')
      if (result !== undefined) writer.value('expressionResult', result)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      writeThrown(writer.string('reason', 'failed to evaluate aggregation expression'), 'details', error)
    }
    return writer.finish()
  })
}

function alwaysClause(name: string, specifiedAs: Uint8Array, context: DetailsContext): Clause {
  return clause(specifiedAs, context, (_document, inverted) =>
    startDetails(context, name, specifiedAs).string('reason', `expression always evaluates to ${inverted}`).finish(),
  )
}

/** `{ path: value }` or one clause for each operator of `{ path: { $op: … } }`. */
function pathClauses(path: string, value: RawValue, context: DetailsContext): Clause[] {
  const leaf = (operator: string, specifiedAs: Uint8Array): Clause =>
    clause(specifiedAs, context, (document, inverted) =>
      leafDetails({ operator, path, specifiedAs, document, inverted }, context),
    )
  if (value.type === BsonType.regex) return [leaf('$regex', wrapped(path, value))]
  if (!isOperatorDocument(value)) return [leaf('$eq', wrapped(path, value))]
  const clauses: Clause[] = []
  for (const it = new FieldIterator(value.bytes, value.start); it.next();) {
    const operator = it.name()
    if (operator === '$options' || operator === '$comment') continue
    if (operator === '$not') clauses.push(notClause(path, it.value(), context))
    else if (operator === '$regex') clauses.push(leaf(operator, new DocumentWriter(64).value(path, value).finish()))
    else
      clauses.push(
        leaf(operator, new DocumentWriter(64).startDocument(path).value(operator, it.value()).end().finish()),
      )
  }
  return clauses
}

function notClause(path: string, argument: RawValue, context: DetailsContext): Clause {
  const children = pathClauses(path, argument, context)
  const child = children.length === 1 ? children[0]! : treeClause('$and', children)
  return {
    matches: (document) => !child.matches(document),
    details: (document, inverted) =>
      new DocumentWriter(256)
        .string('operatorName', '$not')
        .document('details', child.details(document, !inverted))
        .finish(),
  }
}

function isOperatorDocument(value: RawValue): boolean {
  if (value.type !== BsonType.object) return false
  const names: string[] = []
  for (const it = new FieldIterator(value.bytes, value.start); it.next();) names.push(it.name())
  return names[0]?.startsWith('$') === true && !(names.includes('$ref') && names.includes('$id'))
}
