/**
 * reshardCollection, abortReshardCollection and commitReshardCollection. Errors that the config
 * server finds after the start are tested elsewhere. Server: reshard_collection.idl,
 * cluster_reshard_collection_cmd.cpp, configsvr_reshard_collection_cmd.cpp,
 * reshard_collection_coordinator.cpp, resharding_util.cpp,
 * cluster_abort_reshard_collection_cmd.cpp.
 */
import { MaxKey, MinKey, type Document } from 'mongodb'
import { wrong, type Answers, type WrongInput } from './cases.js'

/** A case of a command that exists since 5.0. */
const young = (what: string, command: Document, answers: Answers, to: { db?: string } = {}): WrongInput =>
  wrong(what, command, { '4.4': 59, ...(typeof answers === 'object' ? answers : { '7.0': answers }) }, to)

const key = { l: 1 }
const min = { l: new MinKey() }
const max = { l: new MaxKey() }

/** With a key without arrays, for a collection without documents and zones. */
const empty = (options: Document): Document => ({ reshardCollection: 'app.empty', key, ...options })

const others = ['abortReshardCollection', 'commitReshardCollection', 'cleanupReshardCollection'] as const

export const reshardingCases: readonly WrongInput[] = [
  young('a number for a namespace', { reshardCollection: 5, key }, 14),
  young('an empty namespace', { reshardCollection: '', key }, 73),
  young('a namespace without collection', { reshardCollection: 'app', key }, 73),
  young('no key', { reshardCollection: 'app.empty' }, 40414),
  young('a string for a key', { reshardCollection: 'app.empty', key: 'l' }, 14),
  young('an empty key', { reshardCollection: 'app.empty', key: {} }, 2),
  young('a descending key', { reshardCollection: 'app.empty', key: { l: -1 } }, 2),
  young('two hashed fields', { reshardCollection: 'app.empty', key: { k: 'hashed', l: 'hashed' } }, 2),
  young('a collection that is not sharded', { reshardCollection: 'app.plain', key }, { '7.0': 118, '8.0': 26 }),
  young('a collection that is not there', { reshardCollection: 'app.none', key }, { '7.0': 118, '8.0': 26 }),
  young('a database that is not there', { reshardCollection: 'nowhere.c', key }, 26),
  young('a view', { reshardCollection: 'app.view', key }, { '7.0': 118, '8.0': 26 }),
  young('a collection of the catalog', { reshardCollection: 'config.chunks', key }, 26),
  young('another database than admin', { reshardCollection: 'app.empty', key }, 13, { db: 'app' }),
  young('unique', empty({ unique: true }), 2),
  young('a string for unique', empty({ unique: 'no' }), 14),
  young('a collation', empty({ collation: { locale: 'de' } }), 2),
  young('a string for a collation', empty({ collation: 'simple' }), 14),
  young('a string for numInitialChunks', empty({ numInitialChunks: '4' }), 14),
  young('a collection with zones, and none for the new key', { reshardCollection: 'app.c', key }, 2),
  young('a string for zones', empty({ zones: 'east' }), 14),
  young('a zone without range', empty({ zones: [{ zone: 'east' }] }), 40414),
  young('a zone without name', empty({ zones: [{ min, max }] }), 40414),
  young(
    'zones that overlap',
    empty({
      zones: [
        { zone: 'east', min, max: { l: 5 } },
        { zone: 'west', min: { l: 4 }, max },
      ],
    }),
    2,
  ),
  young('the key that it has', { reshardCollection: 'app.empty', key: { k: 1 } }, 'ok'),
  young('an argument that it does not know', { reshardCollection: 'app.empty', key: { k: 1 }, unknown: 1 }, 'ok'),
  young('a string for forceRedistribution', empty({ forceRedistribution: 'yes' }), { '7.0': 'untried', '8.0': 14 }),
  ...others.flatMap((name) => [
    young('a number for a namespace', { [name]: 5 }, 14),
    young('an empty namespace', { [name]: '' }, 73),
    young('nothing that goes on', { [name]: 'app.c' }, name === 'cleanupReshardCollection' ? 'ok' : 339),
    young('a collection that is not sharded', { [name]: 'app.plain' }, 26),
    young('a collection that is not there', { [name]: 'app.none' }, 26),
    young('another database than admin', { [name]: 'app.c' }, 13, { db: 'app' }),
  ]),
]
