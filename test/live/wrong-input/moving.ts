/**
 * moveCollection and unshardCollection. Server: cluster_move_collection_cmd.cpp,
 * cluster_unshard_collection_cmd.cpp, reshard_collection_coordinator.cpp,
 * cluster_abort_move_collection_cmd.cpp.
 */
import type { Document } from 'mongodb'
import { wrong, type Answer, type WrongInput } from './cases.js'

const commandNotFound = 59

/** A case of a command that exists since 8.0. */
const young = (what: string, command: Document, answer: Answer, to: { db?: string } = {}): WrongInput =>
  wrong(what, command, { '4.4': commandNotFound, '8.0': answer }, to)

const toShard = 'shard02'

export const movingCases: readonly WrongInput[] = [
  young('a number for a namespace', { moveCollection: 5, toShard }, 14),
  young('an empty namespace', { moveCollection: '', toShard }, 73),
  young('a namespace without collection', { moveCollection: 'app', toShard }, 73),
  young('no shard', { moveCollection: 'app.plain' }, 40414),
  young('a number for a shard', { moveCollection: 'app.plain', toShard: 5 }, 14),
  young('a shard that there is not', { moveCollection: 'app.plain', toShard: 'nowhere' }, 70),
  young('a collection that is sharded', { moveCollection: 'app.c', toShard }, 26),
  young('a collection that is not there', { moveCollection: 'app.none', toShard }, 26),
  young('a database that is not there', { moveCollection: 'nowhere.c', toShard }, 26),
  young('another database than admin', { moveCollection: 'app.plain', toShard }, 13, { db: 'app' }),
  young('a number for a namespace', { unshardCollection: 5, toShard }, 14),
  young('an empty namespace', { unshardCollection: '', toShard }, 73),
  young('a number for a shard', { unshardCollection: 'app.c', toShard: 5 }, 14),
  young('a shard that there is not', { unshardCollection: 'app.c', toShard: 'nowhere' }, 70),
  young('a collection that is not sharded', { unshardCollection: 'app.plain', toShard }, 26),
  young('a collection that is not there', { unshardCollection: 'app.none', toShard }, 26),
  young('a database that is not there', { unshardCollection: 'nowhere.c', toShard }, 26),
  young('another database than admin', { unshardCollection: 'app.c', toShard }, 13, { db: 'app' }),
  ...['abortMoveCollection', 'abortUnshardCollection'].flatMap((name) => [
    young('a number for a namespace', { [name]: 5 }, 14),
    young('an empty namespace', { [name]: '' }, 73),
    young('nothing that goes on', { [name]: 'app.c' }, 339),
    young('a collection that is not there', { [name]: 'app.none' }, 26),
    young('another database than admin', { [name]: 'app.c' }, 13, { db: 'app' }),
  ]),
]
