import type { CommandRow } from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  documentsOf,
  DocumentWriter,
  findField,
  isEmptyDocument,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { cappedMaxDocuments, cappedSizeBytes, type Collection } from '@shardlab/storage'
import { collModSpec } from '@shardlab/member'
import { checkClusteredExpiry } from '../ddl/clustered-index.js'
import { checkCollectionUuid } from '../ddl/collection-uuid.js'
import { checkEnumeration, preImagesOption } from '../ddl/collection-options.js'
import { indexChange } from '../ddl/index-change.js'
import { checkUniqueKeys, convertToUnique, modifyCollection } from '../ddl/modify-collection.js'
import { checkValidator } from '../validation/check-validator.js'
import { modifyView, viewOf } from '../views/view-catalog.js'
import type { ViewDefinition } from '../views/view-definition.js'
import type { NodeInvocation } from '../host/node-host.js'

const collectionOnly = [
  'index',
  'validator',
  'validationLevel',
  'validationAction',
  'changeStreamPreAndPostImages',
  'expireAfterSeconds',
  'cappedSize',
  'cappedMax',
] as const

export const collMod: CommandRow<NodeInvocation> = {
  ...collModSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D607'],
  missing: 'time series collections; until 4.0 usePowerOf2Sizes and noPadding',
  summary: 'Changes options of a collection, an index or a view.',
  async run(invocation) {
    invocation.host.requireRoom()
    const { host, args, db } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    const access = await host.role.enter(ns, invocation)
    checkCollectionUuid(host, ns, args)
    const collection = host.collection(ns)
    const writer = new DocumentWriter(128)
    if (collection === undefined) {
      const view = viewOf(host, ns)
      if (view === null) throw new CommandError('NamespaceNotFound', 'ns does not exist')
      modifyViewBy(invocation, view)
    } else {
      host.role.checkDefinitionChange?.(ns)
      refuseUnsupported(invocation)
      const options = changedOptions(invocation, collection)
      if (args.bool('dryRun') === true) checkDryRun(invocation)
      const changed = args.has('index') ? indexChange(invocation, access, collection) : null
      if (args.bool('dryRun') === true) {
        checkUniqueKeys(collection, changed!.index)
        return writer
      }
      // A conversion to a unique index writes entries of its own.
      if (changed?.makesUnique !== true || changed.specification !== null || !isEmptyDocument(options))
        modifyCollection(host, collection, changed?.specification ?? null, options)
      if (changed !== null) {
        if (changed.makesUnique) convertToUnique(host, collection, changed.index)
        writer.fields(changed.reply)
      }
    }
    await host.flush()
    return writer
  },
}

function modifyViewBy({ host, args }: NodeInvocation, view: ViewDefinition): void {
  for (const name of collectionOnly) {
    if (args.has(name)) throw new CommandError('InvalidOptions', `option not supported on a view: ${name}`)
  }
  const pipeline = args.value('pipeline')
  if (pipeline === undefined && !args.has('viewOn')) return
  modifyView(
    host,
    view,
    args.string('viewOn') ?? view.viewOn,
    pipeline === undefined ? view.pipeline : documentsOf(pipeline),
  )
}

function refuseUnsupported({ host, args }: NodeInvocation): void {
  for (const name of ['pipeline', 'viewOn'] as const) {
    if (args.has(name)) throw new CommandError('InvalidOptions', `'${name}' option only supported on a view`)
  }
  if (args.has('timeseries'))
    throw new CommandError('InvalidOptions', `option only supported on a time-series collection: timeseries`)
  if (args.bool('recordPreImages') === true)
    throw new CommandError('InvalidOptions', 'recordPreImages is not supported on a sharded cluster')
  if (args.has('dryRun') && !host.behaviours.prepareUniqueIndexes)
    throw new CommandError(40415, "BSON field 'collMod.dryRun' is an unknown field.")
  for (const name of ['changeStreamPreAndPostImages', 'cappedSize', 'cappedMax'] as const) {
    if (args.has(name) && !host.behaviours.changeStreamPreAndPostImages)
      throw new CommandError(40415, `BSON field 'collMod.${name}' is an unknown field.`)
  }
}

function checkNewValidator(
  host: NodeInvocation['host'],
  ns: string,
  validator: Uint8Array,
  collation: Uint8Array | null,
): void {
  try {
    checkValidator(host, ns, validator, collation)
  } catch (error) {
    if (!(error instanceof CommandError) || !host.behaviours.collModNamesValidator) throw error
    throw new CommandError(error.code, `Parsing of collection validator failed :: caused by :: ${error.message}`)
  }
}

function changedOptions({ host, args }: NodeInvocation, collection: Collection): Uint8Array {
  const { ns, options, capped } = collection
  const writer = new DocumentWriter(256)
  const validator = args.document('validator')
  if (validator !== undefined) {
    checkNewValidator(host, ns, validator, findField(options, 'collation')?.slice() ?? null)
    writer.document('validator', validator)
  }
  for (const [name, standard] of [
    ['validationLevel', 'strict'],
    ['validationAction', 'error'],
  ] as const) {
    const value = args.string(name)
    if (value !== undefined) checkEnumeration('collMod', name, value)
    // With a new validator the server also stores the defaults of level and action.
    if (value !== undefined) writer.string(name, value)
    else if (validator !== undefined && findField(options, name) === undefined) writer.string(name, standard)
  }
  const images = args.document('changeStreamPreAndPostImages')
  if (images !== undefined)
    writer.startDocument('changeStreamPreAndPostImages').bool('enabled', preImagesOption(ns, images)).end()
  const expiry = args.value('expireAfterSeconds')
  if (expiry !== undefined) {
    checkExpiry(collection, expiry, host.context.now())
    if (expiry.type === BsonType.string) writer.string('expireAfterSeconds', 'off')
    else writer.int64('expireAfterSeconds', Math.trunc(expiry.asNumber()))
  }
  if (args.has('cappedSize') || args.has('cappedMax')) {
    if (capped === null) throw new CommandError('InvalidOptions', 'Collection must be capped.')
    const size = args.number('cappedSize')
    if (size !== undefined) writer.integer('size', cappedSizeBytes(checkCappedSize(size)))
    const max = args.number('cappedMax')
    if (max !== undefined) writer.integer('max', cappedMaxDocuments(Math.trunc(max)))
  }
  return writer.finish()
}

function checkExpiry(collection: Collection, expiry: RawValue, nowMs: number): void {
  if (expiry.type !== BsonType.string && !expiry.isNumber()) {
    throw new CommandError(
      'TypeMismatch',
      `BSON field 'collMod.expireAfterSeconds' is the wrong type '${typeName(expiry.type)}', expected types '[string, long]'`,
    )
  }
  if (!collection.clustered)
    throw new CommandError(
      'InvalidOptions',
      "'expireAfterSeconds' option is only supported on collections clustered by _id",
    )
  if (expiry.isNumber()) return checkClusteredExpiry(expiry.asNumber(), nowMs)
  if (expiry.asString() === 'off') return
  throw new CommandError(
    'InvalidOptions',
    `Invalid string value for the 'clusteredIndex::expireAfterSeconds' option. Got: '${expiry.asString()}'. Accepted value is 'off'`,
  )
}

function checkCappedSize(size: number): number {
  if (size < 1)
    throw new CommandError(51024, `BSON field 'cappedSize' value must be >= 1, actual value '${Math.trunc(size)}'`)
  if (size > 2 ** 50)
    throw new CommandError(
      51024,
      `BSON field 'cappedSize' value must be <= ${2 ** 50}, actual value '${Math.trunc(size)}'`,
    )
  return size
}

/**
 * A dry run only reports which documents prevent the index from becoming unique.
 * @throws CommandError 72 InvalidOptions
 */
function checkDryRun({ args }: NodeInvocation): void {
  const index = args.document('index')
  if (index === undefined)
    throw new CommandError('InvalidOptions', 'dry run mode requires an valid index modification.')
  if (findField(index, 'unique')?.isTruthy() !== true)
    throw new CommandError('InvalidOptions', 'dry run mode requires an index modification with unique: true.')
  const others = ['expireAfterSeconds', 'hidden', 'prepareUnique'].some((name) => findField(index, name) !== undefined)
  if (others || collectionOnly.some((name) => name !== 'index' && args.has(name)))
    throw new CommandError(
      'InvalidOptions',
      'unique: true cannot be combined with any other modification in dry run mode.',
    )
}
