import type { CommandArguments, CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField, valuesEqual } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import type { Collection, IndexVersion } from '@shardlab/storage'
import { uuidText, createFields, createSpec } from '@shardlab/member'
import { collectionOptions, listedOptions, pipelineOf, sameOptions } from '../ddl/collection-options.js'
import { checkNewName, createCollection } from '../ddl/namespace.js'
import { createView, viewOf } from '../views/view-catalog.js'
import type { ViewDefinition } from '../views/view-definition.js'
import type { NodeInvocation } from '../host/node-host.js'

export const create: CommandRow<NodeInvocation> = {
  ...createSpec,
  routing: 'primary-shard',
  status: 'partial',
  deviations: ['D305', 'D400'],
  missing: 'time series and encrypted collections',
  summary: 'Creates a collection or a view.',
  fields: createFields,
  async run(invocation) {
    invocation.host.requireRoom()
    const { host, args, db, routed } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    await host.role.enter(ns, invocation)
    const options = collectionOptions(host, ns, args, routed !== null)
    if (args.bool('autoIndexId') === false && db !== 'local')
      throw new CommandError(
        50001,
        `autoIndexId:false is not allowed for collection ${ns} because it can be replicated`,
      )
    const collection = host.collection(ns)
    const view = collection === undefined ? viewOf(host, ns) : null
    if (collection !== undefined) {
      if (!sameOptions(collection.options, options)) throw otherOptions(ns, collectionText(collection))
    } else if (view !== null) {
      if (!isSameView(view, options)) throw otherOptions(ns, viewText(view))
    } else if (args.has('viewOn')) {
      checkNewName(host, ns)
      createView(host, ns, args.string('viewOn')!, pipelineOf(options), args.document('collation') ?? null)
    } else createCollection(host, ns, options, { idIndexVersion: askedIdIndexVersion(args) })
    await host.flush()
    const writer = new DocumentWriter(128)
    if (args.has('autoIndexId') && host.behaviours.createNotesAutoIndexId)
      writer.string('note', 'The autoIndexId option is deprecated and will be removed in a future release')
    return writer
  },
}

function askedIdIndexVersion(args: CommandArguments): IndexVersion | undefined {
  const idIndex = args.document('idIndex')
  return idIndex !== undefined && findField(idIndex, 'v')?.asNumber() === 1 ? 1 : undefined
}

function otherOptions(ns: string, options: string): CommandError {
  return new CommandError('NamespaceExists', `namespace ${ns} already exists, but with different options: ${options}`)
}

function collectionText({ uuid, options }: Collection): string {
  const rest = formatDocument(listedOptions(options)).slice(1, -1).trim()
  return `{ uuid: UUID("${uuidText(uuid)}")${rest === '' ? '' : `, ${rest}`} }`
}

function viewText(view: ViewDefinition): string {
  const writer = new DocumentWriter(256)
  if (view.collation !== null) writer.document('collation', view.collation)
  return formatDocument(writer.string('viewOn', view.viewOn).documents('pipeline', view.pipeline).finish())
}

function isSameView(view: ViewDefinition, options: Uint8Array): boolean {
  if (findField(options, 'viewOn')?.asString() !== view.viewOn) return false
  if (!valuesEqual(findField(options, 'collation'), findField(view.document, 'collation'))) return false
  const pipeline = findField(options, 'pipeline')
  return pipeline === undefined
    ? view.pipeline.length === 0
    : valuesEqual(pipeline, findField(view.document, 'pipeline'))
}
