/** `preCondition` of applyOps, until 6.0. Server: _checkPrecondition in repl/apply_ops.cpp. */
import { BsonType, CommandError, DocumentWriter, findField, noCode, typeName } from '@shardlab/bson'
import { databaseNameOf, parseQuerySort, withCollation } from '@shardlab/member'
import { compileFilter } from '@shardlab/query'
import { executePlan, planQuery, type Collection } from '@shardlab/storage'
import type { NodeInvocation } from '../host/node-host.js'

const emptyDocument = new Uint8Array([5, 0, 0, 0, 0])

/**
 * The first document that matches `q` in `ns` must match `res`.
 * @throws CommandError 2 BadValue with the document, 26 NamespaceNotFound, 73 InvalidNamespace
 */
export function checkPreConditions(invocation: NodeInvocation, conditions: readonly Uint8Array[]): void {
  const { host } = invocation
  const isLenient = host.behaviours.applyOpsMode === 'lenient'
  for (const condition of conditions) {
    const name = findField(condition, 'ns')
    if (name?.type !== BsonType.string)
      throw new CommandError(
        'InvalidNamespace',
        `ns in preCondition must be a string, but found type: ${name === undefined ? 'missing' : typeName(name.type)}`,
      )
    const ns = name.asString()
    if (ns.indexOf('.') < 1 || ns.endsWith('.')) throw new CommandError('InvalidNamespace', `invalid ns: ${ns}`)
    const collection = host.collection(ns)
    if (collection === undefined && !isLenient) {
      const what = host.engine.databases().includes(databaseNameOf(ns)) ? 'collection' : 'database'
      throw new CommandError('NamespaceNotFound', `${what} in ns does not exist: ${ns}`)
    }
    const found = collection === undefined ? emptyDocument : findOne(invocation, collection, documentIn(condition, 'q'))
    const context = withCollation(host.evaluation(), undefined, collection?.defaultCollation ?? null)
    if (compileFilter(documentIn(condition, 'res'), context).matches(found)) continue
    throw new CommandError(
      isLenient ? noCode : 'BadValue',
      isLenient ? 'pre-condition failed' : 'preCondition failed',
      {
        extra: new DocumentWriter(256).document('got', found).document('whatFailed', condition).finish(),
      },
    )
  }
}

/** @throws CommandError 10065 unless it is a document */
function documentIn(condition: Uint8Array, name: string): Uint8Array {
  const value = findField(condition, name)
  if (value?.type === BsonType.object) return value.slice()
  throw new CommandError(10065, `invalid parameter: expected an object (${value === undefined ? '' : name})`)
}

/** @param query a filter, or as in OP_QUERY `{ query, orderby }` */
function findOne({ host }: NodeInvocation, collection: Collection, query: Uint8Array): Uint8Array {
  const wrapped = findField(query, '$query') ?? findField(query, 'query')
  const order = wrapped === undefined ? undefined : (findField(query, '$orderby') ?? findField(query, 'orderby'))
  const context = withCollation(host.evaluation(), undefined, collection.defaultCollation)
  const { strings, language } = context
  const plan = planQuery(collection, {
    filter: compileFilter(wrapped?.type === BsonType.object ? wrapped.slice() : query, context),
    ...(order?.type === BsonType.object ? { sort: parseQuerySort(order.slice(), language) } : {}),
    ...(strings === undefined ? {} : { strings }),
    limit: 1,
  })
  return executePlan(plan, {}).next()?.document ?? emptyDocument
}
