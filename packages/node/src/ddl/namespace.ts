import { CommandError, DocumentWriter } from '@shardlab/bson'
import { uuidV4 } from '@shardlab/actor'
import type { Collection } from '@shardlab/storage'
import { splitNamespace } from '@shardlab/member'
import type { NodeHost, NodeInvocation } from '../host/node-host.js'
import { refuseView } from '../views/refuse-view.js'

/** `system.` collections that clients may create in any database. */
const clientSystemNames = ['system.js', 'system.profile', 'system.views']

/**
 * @throws CommandError 73 InvalidNamespace for names that no new collection may have. Server:
 * write_ops userAllowedCreateNS
 */
export function checkNewName({ behaviours }: NodeHost, ns: string): void {
  const [db, name] = splitNamespace(ns)
  if (name.includes('$')) throw new CommandError('InvalidNamespace', `Invalid collection name: ${name}`)
  const isInternal = db === 'admin' || db === 'config' || db === 'local'
  if (name.startsWith('system.') && !isInternal && !clientSystemNames.includes(name))
    throw new CommandError('InvalidNamespace', `Invalid system namespace: ${ns}`)
  if (Buffer.byteLength(ns) > behaviours.namespaceBytesMax) {
    throw new CommandError(
      'InvalidNamespace',
      `Fully qualified namespace is too long. Namespace: ${ns} Max: ${behaviours.namespaceBytesMax}`,
    )
  }
}

/**
 * @param options the options document, without `create`
 * @param uuid chosen by the coordinator; default: a new one
 * @param isOwn whether the member creates it for itself, under a name that clients may not choose;
 *   default false
 * @throws CommandError 73 InvalidNamespace
 */
export function createCollection(
  node: NodeHost,
  ns: string,
  options: Uint8Array,
  uuid: Uint8Array = uuidV4(node.context.random),
  isOwn = false,
): Collection {
  const [db, name] = splitNamespace(ns)
  if (!isOwn) checkNewName(node, ns)
  node.apply({
    op: 'c',
    ns: `${db}.$cmd`,
    uuid,
    object: new DocumentWriter(256).string('create', name).fields(options).finish(),
    id: null,
    session: null,
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

const emptyOptions = new Uint8Array([5, 0, 0, 0, 0])
