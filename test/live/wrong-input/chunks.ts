/**
 * Chunks. Server: cluster_split_cmd.cpp, cluster_merge_chunks_cmd.cpp, cluster_move_chunk_cmd.cpp, cluster_move_range_cmd.cpp,
 * cluster_clear_jumbo_flag_cmd.cpp, cluster_merge_all_chunks_on_shard_cmd.cpp, field_parser.h, and the IDL files beside them.
 */
import { Long, MaxKey, MinKey } from 'mongodb'
import { wrong, type WrongInput } from './cases.js'

const min = { k: new MinKey() }
const max = { k: new MaxKey() }

/** The words in which each of these commands has a namespace that cannot be. */
const namespaces = (
  command: (ns: unknown) => Record<string, unknown>,
  wrongType: Parameters<typeof wrong>[2] = 2,
): WrongInput[] => [
  wrong('a number for a namespace', command(5), wrongType),
  wrong('an empty namespace', command(''), 73),
  wrong('a namespace without dot', command('app'), 73),
  wrong('a namespace without collection', command('app.'), 73),
  wrong('not sharded', command('app.plain'), 118),
  wrong('a view', command('app.view'), 118),
  wrong('no such collection', command('app.none'), 118),
  wrong('no such database', command('nodb.c'), 26),
  wrong('the catalog', command('config.chunks'), 118),
]

export const chunkCases: readonly WrongInput[] = [
  ...namespaces((split) => ({ split, middle: { k: 5 } })),
  wrong('nothing to find it by', { split: 'app.c' }, { '2.6': 'none', '4.4': 'none' }),
  wrong('an empty query', { split: 'app.c', find: {} }, 'none'),
  wrong('find and middle', { split: 'app.c', find: { k: 5 }, middle: { k: 5 } }, { '2.6': 'none', '4.4': 'none' }),
  wrong('find and bounds', { split: 'app.c', find: { k: 5 }, bounds: [{ k: 10 }, { k: 20 }] }, 'none'),
  wrong('bounds and middle', { split: 'app.c', middle: { k: 5 }, bounds: [{ k: 10 }, { k: 20 }] }, 'none'),
  wrong('one bound', { split: 'app.c', bounds: [{ k: 10 }] }, 'none'),
  wrong('bounds that are no documents', { split: 'app.c', bounds: [1, 2] }, 13111),
  wrong('a number for find', { split: 'app.c', find: 5 }, 'none'),
  wrong('a number for middle', { split: 'app.c', middle: 5 }, 'none'),
  wrong('a document for bounds', { split: 'app.c', bounds: { k: 1 } }, 'none'),
  wrong('a query without the key', { split: 'app.c', find: { l: 5 } }, { '2.6': 'none', '4.4': 'none' }),
  wrong('a query with a range of the key', { split: 'app.c', find: { k: { $gt: 5 } } }, 'none'),
  wrong('a query that is none', { split: 'app.c', find: { k: { $nothing: 5 } } }, 2),
  wrong('a middle without the key', { split: 'app.c', middle: { l: 5 } }, 'none'),
  wrong('a middle with more than the key', { split: 'app.c', middle: { k: 5, l: 5 } }, 'none'),
  wrong('a prefix of the key as middle', { split: 'app.compound', middle: { a: 1 } }, 'none'),
  wrong('an array in the middle', { split: 'app.c', middle: { k: [5] } }, 'none'),
  wrong('an edge as middle', { split: 'app.c', middle: { k: 10 } }, { '2.6': 'none', '4.4': 'none' }),
  wrong('the end of the key space as middle', { split: 'app.c', middle: max }, 61),
  wrong('the beginning of the key space as middle', { split: 'app.c', middle: min }, 'none'),
  wrong('bounds of no chunk', { split: 'app.c', bounds: [{ k: 10 }, { k: 15 }] }, 'none'),
  wrong('bounds of two chunks', { split: 'app.c', bounds: [min, { k: 20 }] }, 'none'),
  wrong('bounds out of order', { split: 'app.c', bounds: [{ k: 20 }, { k: 10 }] }, 'none'),
  wrong('bounds without the key', { split: 'app.c', bounds: [{ l: 10 }, { l: 20 }] }, 'none'),
  wrong('a raw value of a hashed key as middle', { split: 'app.hashed', middle: { h: 5 } }, { '4.4': 87 }),
  wrong('an empty chunk', { split: 'app.compound', find: { a: 7, b: 100 } }, { '4.4': 'untried' }),

  ...namespaces((mergeChunks) => ({ mergeChunks, bounds: [min, max] })),
  wrong('no bounds', { mergeChunks: 'app.c' }, { '2.6': 'none', '4.4': 'none' }),
  wrong('one bound', { mergeChunks: 'app.c', bounds: [min] }, 'none'),
  wrong('three bounds', { mergeChunks: 'app.c', bounds: [min, { k: 10 }, max] }, 'none'),
  wrong('bounds that are no documents', { mergeChunks: 'app.c', bounds: [1, 2] }, 'none'),
  wrong('a number for bounds', { mergeChunks: 'app.c', bounds: 5 }, 'none'),
  wrong('an empty bound', { mergeChunks: 'app.c', bounds: [{}, max] }, 'none'),
  wrong('an empty upper bound', { mergeChunks: 'app.c', bounds: [min, {}] }, 'none'),
  wrong('bounds without the key', { mergeChunks: 'app.c', bounds: [{ l: 1 }, { l: 2 }] }, 'none'),
  wrong('prefixes of the key', { mergeChunks: 'app.compound', bounds: [{ a: 1 }, { a: 2 }] }, 'none'),
  wrong('chunks of two shards', { mergeChunks: 'app.c', bounds: [min, { k: 20 }] }, { '4.4': 20, '7.0': 13388 }),
  wrong('bounds that are no edges', { mergeChunks: 'app.c', bounds: [min, { k: 5 }] }, { '4.4': 20, '7.0': 13388 }),

  ...namespaces((moveChunk) => ({ moveChunk, find: { k: 5 }, to: 'shard02' }), { '4.4': 2, '7.0': 14 }),
  wrong('nothing to find it by', { moveChunk: 'app.c', to: 'shard02' }, { '2.6': 'none', '4.4': 'none', '7.0': 72 }),
  wrong(
    'find and bounds',
    { moveChunk: 'app.c', find: { k: 5 }, bounds: [min, { k: 10 }], to: 'shard02' },
    { '4.4': 'none', '7.0': 72 },
  ),
  wrong('one bound', { moveChunk: 'app.c', bounds: [min], to: 'shard02' }, { '4.4': 10065, '7.0': 72 }),
  wrong(
    'three bounds',
    { moveChunk: 'app.c', bounds: [min, { k: 10 }, max], to: 'shard02' },
    { '4.4': 'untried', '7.0': 72 },
  ),
  wrong(
    'bounds that are no documents',
    { moveChunk: 'app.c', bounds: [1, 2], to: 'shard02' },
    { '4.4': 10065, '7.0': 14 },
  ),
  wrong('a number for find', { moveChunk: 'app.c', find: 5, to: 'shard02' }, { '4.4': 'none', '7.0': 14 }),
  wrong(
    'a query without the key',
    { moveChunk: 'app.c', find: { l: 5 }, to: 'shard02' },
    { '4.4': 'none', '7.0': 656450 },
  ),
  wrong(
    'a query with a range of the key',
    { moveChunk: 'app.c', find: { k: { $gt: 5 } }, to: 'shard02' },
    { '4.4': 'none', '7.0': 656450 },
  ),
  wrong(
    'bounds without the key',
    { moveChunk: 'app.c', bounds: [{ l: 1 }, { l: 2 }], to: 'shard02' },
    { '4.4': 'none', '7.0': 656451 },
  ),
  wrong(
    'bounds of no chunk',
    { moveChunk: 'app.c', bounds: [{ k: 1 }, { k: 2 }], to: 'shard02' },
    { '4.4': 'none', '7.0': 656452 },
  ),
  wrong(
    'bounds out of order',
    { moveChunk: 'app.c', bounds: [{ k: 10 }, min], to: 'shard02' },
    { '4.4': 'none', '7.0': 656452 },
  ),
  wrong('no destination', { moveChunk: 'app.c', find: { k: 5 } }, { '4.4': 14, '7.0': 40414 }),
  wrong('a number for a destination', { moveChunk: 'app.c', find: { k: 5 }, to: 5 }, 14),
  wrong('an empty destination', { moveChunk: 'app.c', find: { k: 5 }, to: '' }, { '4.4': 'none', '7.0': 70 }),
  wrong(
    'a destination that is unknown',
    { moveChunk: 'app.c', find: { k: 5 }, to: 'nowhere' },
    { '2.6': 'untried', '4.4': 70 },
  ),
  wrong(
    'a string for _secondaryThrottle',
    { moveChunk: 'app.c', find: { k: 5 }, to: 'shard02', _secondaryThrottle: 'x' },
    { '2.6': 'untried', '4.4': 14 },
  ),
  wrong(
    'a string for forceJumbo',
    { moveChunk: 'app.c', find: { k: 5 }, to: 'shard02', forceJumbo: 'x' },
    { '4.4': 'untried', '7.0': 14 },
  ),
  wrong(
    'a number for forceJumbo',
    { moveChunk: 'app.c', find: { k: 5 }, to: 'shard02', forceJumbo: 1 },
    { '4.4': 'untried', '7.0': 14 },
  ),
  wrong(
    'a string for _waitForDelete',
    { moveChunk: 'app.c', find: { k: 5 }, to: 'shard02', _waitForDelete: 'x' },
    { '4.4': 'untried', '7.0': 14 },
  ),
  wrong('an argument that it does not know', { moveChunk: 'app.c', find: { k: 5 }, to: 'shard01', unknown: 1 }, 'ok'),

  wrong(
    'a command that this version does not have',
    { moveRange: 'app.c', min, toShard: 'shard02' },
    { '4.4': 59, '7.0': 'untried' },
  ),
  wrong('a number for a namespace', { moveRange: 5, min, toShard: 'shard02' }, { '7.0': 14 }),
  wrong('no range', { moveRange: 'app.c', toShard: 'shard02' }, { '7.0': 72 }),
  wrong('no destination', { moveRange: 'app.c', min }, { '7.0': 40414 }),
  wrong('a number for a destination', { moveRange: 'app.c', min, toShard: 5 }, { '7.0': 14 }),
  wrong('a destination that is unknown', { moveRange: 'app.c', min, toShard: 'nowhere' }, { '7.0': 70 }),
  wrong('an array for min', { moveRange: 'app.c', min: [], toShard: 'shard02' }, { '7.0': 14 }),
  wrong('a string for max', { moveRange: 'app.c', min, max: 'x', toShard: 'shard02' }, { '7.0': 14 }),
  wrong('a number for forceJumbo', { moveRange: 'app.c', min, toShard: 'shard02', forceJumbo: 1 }, { '7.0': 14 }),
  wrong('not sharded', { moveRange: 'app.plain', min, toShard: 'shard02' }, { '7.0': 26 }),
  wrong('no such collection', { moveRange: 'app.none', min, toShard: 'shard02' }, { '7.0': 26 }),
  wrong('no such database', { moveRange: 'nodb.c', min, toShard: 'shard02' }, { '7.0': 26 }),
  wrong(
    'an argument that it does not know',
    { moveRange: 'app.c', min: { k: 20 }, toShard: 'shard01', unknown: 1 },
    { '7.0': 'ok' },
  ),

  wrong('a number for a namespace', { clearJumboFlag: 5, find: { k: 5 } }, 14),
  wrong('not sharded', { clearJumboFlag: 'app.plain', find: { k: 5 } }, 118),
  wrong('a view', { clearJumboFlag: 'app.view', find: { k: 5 } }, 118),
  wrong('no such collection', { clearJumboFlag: 'app.none', find: { k: 5 } }, 118),
  wrong('no such database', { clearJumboFlag: 'nodb.c', find: { k: 5 } }, 26),
  wrong('nothing to find it by', { clearJumboFlag: 'app.c' }, 72),
  wrong('find and bounds', { clearJumboFlag: 'app.c', find: { k: 5 }, bounds: [min, { k: 10 }] }, 72),
  wrong('one bound', { clearJumboFlag: 'app.c', bounds: [min] }, 72),
  wrong('bounds that are no documents', { clearJumboFlag: 'app.c', bounds: [1, 2] }, 14),
  wrong('a number for find', { clearJumboFlag: 'app.c', find: 5 }, 14),
  wrong('a number for bounds', { clearJumboFlag: 'app.c', bounds: 5 }, 14),
  wrong('a query without the key', { clearJumboFlag: 'app.c', find: { l: 5 } }, 51260),
  wrong('bounds of no chunk', { clearJumboFlag: 'app.c', bounds: [{ k: 1 }, { k: 2 }] }, 51261),
  wrong(
    'a chunk that is not jumbo, with an argument that it does not know',
    { clearJumboFlag: 'app.c', find: { k: 5 }, unknown: 1 },
    'ok',
  ),
  wrong('a command that this version does not have', { clearJumboFlag: 'app.c', find: { k: 5 } }, { '2.6': 59 }),

  wrong(
    'a command that this version does not have',
    { mergeAllChunksOnShard: 'app.c', shard: 'shard01' },
    { '4.4': 59, '7.0': 'untried' },
  ),
  wrong('a number for a namespace', { mergeAllChunksOnShard: 5, shard: 'shard01' }, { '7.0': 14 }),
  wrong('no shard', { mergeAllChunksOnShard: 'app.c' }, { '7.0': 40414 }),
  wrong('a number for a shard', { mergeAllChunksOnShard: 'app.c', shard: 5 }, { '7.0': 14 }),
  wrong('a shard that is unknown', { mergeAllChunksOnShard: 'app.c', shard: 'nowhere' }, { '7.0': 70 }),
  wrong(
    'a string for a limit',
    { mergeAllChunksOnShard: 'app.c', shard: 'shard01', maxNumberOfChunksToMerge: 'x' },
    { '7.0': 14 },
  ),
  wrong(
    'a long for a limit',
    { mergeAllChunksOnShard: 'app.c', shard: 'shard01', maxNumberOfChunksToMerge: Long.fromNumber(3) },
    { '7.0': 14 },
  ),
  wrong(
    'an argument that it does not know',
    { mergeAllChunksOnShard: 'app.c', shard: 'shard01', unknown: 1 },
    { '7.0': 'ok' },
  ),
]
