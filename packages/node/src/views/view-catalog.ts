/**
 * Definitions are documents of `<db>.system.views`, `{ _id: 'db.view', viewOn, pipeline, collation?
 * }`, which log entries change like any other. Manual: core/views. Server: view_catalog.cpp,
 * durable_view_catalog.cpp.
 */
import { BsonType, CommandError, DocumentWriter, documentsOf, elementsOf, findField, stringValue } from '@shardlab/bson'
import { compileCollation, compilePipeline, withoutOptimization, type Pipeline } from '@shardlab/query'
import { databaseNameOf, splitNamespace } from '@shardlab/member'
import { createCollection } from '../ddl/namespace.js'
import type { NodeHost } from '../host/node-host.js'
import { viewsCollection, type ViewDefinition } from './view-definition.js'
import { checkViewGraph } from './view-graph.js'

const emptyOptions = new Uint8Array([5, 0, 0, 0, 0])

/** null: there is no such view. @throws CommandError 182 InvalidViewDefinition */
export function viewOf(node: NodeHost, ns: string): ViewDefinition | null {
  const [db] = splitNamespace(ns)
  const views = node.collection(`${db}.${viewsCollection}`)
  if (views === undefined) return null
  const document = views.findById(stringValue(ns))?.document
  return document === undefined ? null : parseView(document)
}

/** By name. @throws CommandError 182 InvalidViewDefinition */
export function viewsOf(node: NodeHost, db: string): ViewDefinition[] {
  const views: ViewDefinition[] = []
  const scan = node.collection(`${db}.${viewsCollection}`)?.scan()
  for (let record = scan?.next() ?? null; record !== null; record = scan!.next()) views.push(parseView(record.document))
  return views.sort((a, b) => (a.ns < b.ns ? -1 : 1))
}

/**
 * Call {@link NodeHost.flush} afterwards.
 * @param collation as the client sent it; absent: the simple one
 * @throws CommandError 73 InvalidNamespace, 167 OptionNotSupportedOnView, 5 GraphContainsCycle, 165
 *   ViewDepthLimitExceeded, and the errors of the pipeline and the collation
 */
export function createView(
  node: NodeHost,
  ns: string,
  viewOn: string,
  pipeline: readonly Uint8Array[],
  collation: Uint8Array | null,
): void {
  checkViewOn(viewOn)
  const compiled = collation === null ? null : compileCollation(collation)
  storeView(node, ns, viewOn, pipeline, compiled?.document ?? null)
}

/** The view keeps its collation. @throws as {@link createView} */
export function modifyView(
  node: NodeHost,
  view: ViewDefinition,
  viewOn: string,
  pipeline: readonly Uint8Array[],
): void {
  checkViewOn(viewOn)
  storeView(node, view.ns, viewOn, pipeline, view.collation)
}

/** Call {@link NodeHost.flush} afterwards. @returns whether the view existed */
export function dropView(node: NodeHost, ns: string): boolean {
  const view = viewOf(node, ns)
  if (view === null) return false
  const [db] = splitNamespace(ns)
  const id = findField(view.document, '_id')!
  const { uuid, ns: viewsNs } = node.collection(`${db}.${viewsCollection}`)!
  node.apply({
    op: 'd',
    ns: viewsNs,
    uuid,
    object: new DocumentWriter(64).value('_id', id).finish(),
    id,
    session: null,
  })
  return true
}

function parseView(document: Uint8Array): ViewDefinition {
  const id = findField(document, '_id')
  const viewOn = findField(document, 'viewOn')
  const pipeline = findField(document, 'pipeline')
  const isValid =
    id?.type === BsonType.string &&
    viewOn?.type === BsonType.string &&
    pipeline?.type === BsonType.array &&
    elementsOf(pipeline).every((stage) => stage.type === BsonType.object)
  if (!isValid) {
    throw new CommandError(
      'InvalidViewDefinition',
      'Invalid view definition detected in the view catalog. Remove the invalid view manually to prevent disallowing any further usage of the view catalog.',
    )
  }
  return {
    ns: id.asString(),
    viewOn: viewOn.asString(),
    pipeline: documentsOf(pipeline),
    collation: findField(document, 'collation')?.slice() ?? null,
    document,
  }
}

function checkViewOn(viewOn: string): void {
  if (viewOn === '' || viewOn.startsWith('.') || viewOn.includes('$') || viewOn.includes('\0'))
    throw new CommandError('InvalidNamespace', `invalid name for 'viewOn': ${viewOn}`)
}

function storeView(
  node: NodeHost,
  ns: string,
  viewOn: string,
  pipeline: readonly Uint8Array[],
  collation: Uint8Array | null,
): void {
  const [db] = splitNamespace(ns)
  const writer = new DocumentWriter(256).string('_id', ns).string('viewOn', viewOn).documents('pipeline', pipeline)
  if (collation !== null) writer.document('collation', collation)
  const view: ViewDefinition = { ns, viewOn, pipeline, collation, document: writer.finish() }
  const references = checkPipeline(node, view)
  checkViewGraph(
    viewsOf(node, db).filter((other) => other.ns !== ns),
    view,
    references,
    (other) => referencesOf(node, other),
  )
  const viewsNs = `${db}.${viewsCollection}`
  const views = node.collection(viewsNs) ?? createCollection(node, viewsNs, emptyOptions)
  const id = findField(view.document, '_id')!
  const op = views.findById(id) === undefined ? 'i' : 'u'
  node.apply({ op, ns: viewsNs, uuid: views.uuid, object: view.document, id, session: null })
}

/**
 * @returns names of the collections that the view reads
 * @throws CommandError for a pipeline that views do not allow
 */
function checkPipeline(node: NodeHost, view: ViewDefinition): string[] {
  const { ns, pipeline } = view
  try {
    const { writer, source } = parsePipeline(node, view)
    if (writer !== null) {
      throw new CommandError(
        'OptionNotSupportedOnView',
        `The aggregation stage ${writer.name} in location ${pipeline.length - 1} of the pipeline cannot be used in the view definition of ${ns} because it writes to disk`,
      )
    }
    if (source !== null && source.name !== '$collStats' && source.name !== '$indexStats')
      throw new CommandError('InvalidNamespace', `'${source.name}' cannot be used in a view definition`)
    return referencesOf(node, view)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    throw new CommandError(error.code, `Invalid pipeline for view ${ns} :: caused by :: ${error.message}`, {
      extra: error.extra,
    })
  }
}

function referencesOf(node: NodeHost, view: ViewDefinition): string[] {
  const { ns, viewOn } = view
  const db = databaseNameOf(ns)
  const names = parsePipeline(node, view).foreign.flatMap(({ db: other, collection }) =>
    collection !== null && (other === null || other === db) ? [collection] : [],
  )
  return [...new Set([...names, viewOn])].map((name) => `${db}.${name}`)
}

function parsePipeline(node: NodeHost, { ns, pipeline }: ViewDefinition): Pipeline {
  return compilePipeline(pipeline, withoutOptimization(node.evaluation()), { db: databaseNameOf(ns) })
}
