import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { uuidV4 } from '@shardlab/actor'
import { idIndexSpec, type Collection, type IndexVersion } from '@shardlab/storage'
import { splitNamespace, systemIndexes } from '@shardlab/member'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'
import { refuseOplogCreation, refuseOplogWrite } from './refuse-oplog.js'
import { refuseView } from '../views/refuse-view.js'
import { viewsCollection } from '../views/view-definition.js'

/** `system.` collections that clients may create in any database. */
const clientSystemNames = ['system.js', 'system.profile', 'system.users', 'system.views']
/** More of them in these databases; null: all names. */
const internalSystemNames: Readonly<Record<string, readonly string[] | null>> = {
  admin: ['system.backup_users', 'system.keys', 'system.new_users', 'system.roles', 'system.version'],
  config: null,
  local: null,
}
/** Other names may contain these: caches of the catalog, and temporary collections. */
const innerSystemNames = ['.system.sessions', '.system.resharding.']

/**
 * @throws CommandError 73 InvalidNamespace for names that no new collection may have, 2 BadValue.
 *   Server: userAllowedCreateNS
 */
export function checkNewName(node: NodeHost, ns: string): void {
  checkAllowedName(node, ns)
  checkNameLength(node, ns)
}

/** @throws CommandError 73 InvalidNamespace, 2 BadValue */
function checkAllowedName({ behaviours }: NodeHost, ns: string): void {
  const [db, name] = splitNamespace(ns)
  const code = behaviours.oldNameErrors
  if (code !== null) {
    const isRefused = name.startsWith('system.') && !isClientSystemName(db, name)
    if (name.includes('$')) throw new CommandError(code, 'invalid collection name')
    if (isRefused) throw new CommandError(code, `cannot write to '${ns}'`)
    if (isInnerSystemName(name)) throw new CommandError('BadValue', `cannot write to '${ns}'`)
    return
  }
  if (db.includes('$')) throw new CommandError('InvalidNamespace', `Invalid namespace: ${ns}`)
  if (name.includes('$')) throw new CommandError('InvalidNamespace', `Invalid collection name: ${name}`)
  if (name.startsWith('system.') && !isClientSystemName(db, name))
    throw new CommandError('InvalidNamespace', `Invalid system namespace: ${ns}`)
  if (isInnerSystemName(name)) throw new CommandError('BadValue', `Invalid namespace: ${ns}`)
}

function isInnerSystemName(name: string): boolean {
  return name.includes('.system.') && !innerSystemNames.some((inner) => name.includes(inner))
}

/** @throws CommandError 73 InvalidNamespace */
function checkNameLength({ behaviours }: NodeHost, ns: string): void {
  const { namespaceBytesMax, oldNameErrors } = behaviours
  if (Buffer.byteLength(ns) <= namespaceBytesMax) return
  if (oldNameErrors === null)
    throw new CommandError(
      'InvalidNamespace',
      `Fully qualified namespace is too long. Namespace: ${ns} Max: ${namespaceBytesMax}`,
    )
  throw new CommandError(
    oldNameErrors,
    `fully qualified namespace ${ns} is too long (max is ${namespaceBytesMax} bytes)`,
  )
}

function isClientSystemName(db: string, name: string): boolean {
  if (clientSystemNames.includes(name)) return true
  const more = Object.hasOwn(internalSystemNames, db) ? internalSystemNames[db] : []
  return more?.includes(name) ?? true
}

/**
 * Call before a write, whether the collection exists or not. Server: userAllowedWriteNS.
 * @throws CommandError 73 InvalidNamespace, 2 BadValue
 */
export function checkWrittenName(host: NodeHost, ns: string): void {
  refuseOplogWrite(ns)
  // An existing collection has a valid name.
  const isSystem = ns.includes('.system.')
  if (!isSystem && host.collection(ns) !== undefined) return
  if (isSystem) {
    const [, name] = splitNamespace(ns)
    const { indexesByInsert, oldNameErrors, viewCatalogIsReadOnly } = host.behaviours
    if (name === systemIndexes && indexesByInsert) return
    if (name === 'system.profile' || (name === viewsCollection && viewCatalogIsReadOnly))
      throw new CommandError(
        oldNameErrors ?? 'InvalidNamespace',
        `cannot write to ${oldNameErrors === null ? ns : `'${ns}'`}`,
      )
  }
  checkNewName(host, ns)
}

/**
 * As {@link checkNewName}, for the target of a renameCollection. Server:
 * validateNamespacesForRenameCollection in rename_collection.cpp.
 * @throws CommandError 20 IllegalOperation, 73 InvalidNamespace for a name that is too long
 */
export function checkTargetName(node: NodeHost, ns: string): void {
  asTarget('IllegalOperation', () => checkAllowedName(node, ns))
  asTarget('InvalidNamespace', () => checkNameLength(node, ns))
}

function asTarget(code: 'IllegalOperation' | 'InvalidNamespace', check: () => void): void {
  try {
    check()
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    throw new CommandError(code, `error with target namespace: ${error.message}`)
  }
}

const emptyOptions = new Uint8Array([5, 0, 0, 0, 0])

export interface NewCollection {
  /** Chosen by the coordinator; default: a new one. */
  readonly uuid?: Uint8Array
  /**
   * Whether the member creates it for itself, under a name that clients may not choose. Default
   * false.
   */
  readonly isOwn?: boolean
  /** Default: that of the emulated version. */
  readonly idIndexVersion?: IndexVersion | undefined
  /** Change streams do not show it: another shard has the event. Default false. */
  readonly fromMigrate?: boolean
}

/**
 * @param options the options document, without `create`
 * @throws CommandError 73 InvalidNamespace
 */
export function createCollection(
  node: NodeHost,
  ns: string,
  options: Uint8Array,
  { uuid, isOwn = false, idIndexVersion = node.behaviours.defaultIndexVersion, fromMigrate }: NewCollection = {},
): Collection {
  const [db, name] = splitNamespace(ns)
  refuseOplogCreation(ns)
  if (!isOwn) checkNewName(node, ns)
  const object = new DocumentWriter(256).string('create', name).fields(options)
  if (idIndexVersion === 1) object.document('idIndex', idIndexSpec(emptyOptions, idIndexVersion))
  node.apply({
    op: 'c',
    ns: `${db}.$cmd`,
    uuid: uuid ?? uuidV4(node.context.random),
    object: object.finish(),
    id: null,
    session: null,
    fromMigrate,
  })
  return node.collection(ns)!
}

export function collectionForWrite(invocation: NodeInvocation, ns: string): Collection {
  const { host } = invocation
  const found = host.collection(ns)
  if (found !== undefined) return found
  refuseView(host, ns)
  host.role.checkImplicitCreate(ns, invocation)
  return createCollection(host, ns, emptyOptions)
}

/** The version of the `_id` index, for a copy of the collection. */
export function idIndexVersionOf(specs: readonly Uint8Array[]): IndexVersion | undefined {
  const spec = specs.find(isIdIndex)
  if (spec === undefined) return undefined
  return findField(spec, 'v')!.asNumber() === 1 ? 1 : 2
}

export function isIdIndex(spec: Uint8Array): boolean {
  return findField(spec, 'name')!.asString() === '_id_'
}
