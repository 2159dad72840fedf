/** Collections, their options, and indexes. */
import { row } from '../row.js'

export const collectionBehaviours = {
  namespaceBytesMax: row<number>(
    'Longest namespace, database name and dot included.',
    'reference/limits, Namespace Length',
    ['2.6', 120],
    ['4.4', 255],
  ),
  createNotesAutoIndexId: row<boolean>(
    'create answers with a note that autoIndexId is deprecated.',
    'create_command.cpp',
    ['2.6', false],
    ['4.0', true],
    ['8.0', false],
  ),
  clusteredCollections: row<boolean>(
    'create takes clusteredIndex.',
    'core/clustered-collections, new in 5.3',
    ['2.6', false],
    ['6.0.2', true],
  ),
  changeStreamPreAndPostImages: row<boolean>(
    'Collections have the option changeStreamPreAndPostImages, and no longer recordPreImages.',
    'release notes 6.0; reference/command/create',
    ['2.6', false],
    ['6.0.2', true],
  ),
  droppingMissingCollectionFails: row<boolean>(
    'drop of a collection that does not exist fails with NamespaceNotFound.',
    'SERVER-43894',
    ['2.6', true],
    ['7.0', false],
  ),
  collModIsTyped: row<boolean>(
    'Arguments of collMod are checked by a generated parser, which refuses unknown ones with its own code.',
    'coll_mod.idl; before: coll_mod.cpp, parseCollModRequest',
    ['2.6', false],
    ['5.0', true],
  ),
  collModOfUnshardedIsPlain: row<boolean>(
    'collMod on an unsharded collection answers through a router as its shard does, not with raw.',
    'collmod_coordinator.cpp',
    ['2.6', false],
    ['5.0', true],
  ),
  partialFilterOrAndIn: row<boolean>(
    'partialFilterExpression may hold $or and $in.',
    'core/index-partial; index_catalog_impl.cpp',
    ['2.6', false],
    ['6.0.2', true],
  ),
  prepareUniqueIndexes: row<boolean>(
    'collMod prepares an index for uniqueness and makes it unique, and gives one without it a time to live.',
    'reference/command/collMod',
    ['2.6', false],
    ['6.0.2', true],
  ),
  cappedDocumentsCanBeDeleted: row<boolean>(
    'Documents of capped collections can be deleted.',
    'core/capped-collections; delete.cpp',
    ['2.6', false],
    ['5.0', true],
  ),
  cappedDocumentsCanChangeSize: row<boolean>(
    'Updates of documents of capped collections may change their size.',
    'collection_impl.cpp, updateDocument',
    ['2.6', false],
    ['6.0.2', true],
  ),
}
