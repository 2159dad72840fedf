import type { AddressDirectory } from '@shardlab/actor'
import type { Link } from '../host/mailbox/link-table.js'
import type { Mailbox } from '../host/mailbox/mailbox.js'

/** Links of a host to members that are neither on it nor on another thread of its world. */
export interface ForeignLinks {
  /** Of the host, with the members of other processes as they become known. */
  readonly directory: AddressDirectory
  /** undefined: the member is down, or on this host. */
  find(index: number): Link | undefined
  /** Called once, before the first member starts. */
  serve(mailbox: Mailbox): void
}
