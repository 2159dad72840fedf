/** Collections, their options, and indexes. */
import { row } from '../row.js'

export const collectionBehaviours = {
  viewCatalogIsReadOnly: row<boolean>(
    'Clients cannot write to system.views.',
    'userAllowedWriteNS; jstests/core/views/invalid_system_views.js, since 4.7',
    ['2.6', false],
    ['5.0', true],
  ),
  catalogCollections: row<boolean>(
    'The collections system.indexes and system.namespaces list the indexes and the collections of a database.',
    'reference/system-collections of 2.6; database.cpp, index_catalog.cpp; later only with the storage engine MMAPv1',
    ['2.6', true],
    ['4.0', false],
  ),
  indexesByInsert: row<boolean>(
    'An insert into system.indexes creates an index.',
    'batch_executor.cpp of 2.6, write_ops_exec.cpp of 4.0, performCreateIndexes; removed with MMAPv1 in 4.2',
    ['2.6', true],
    ['4.4', false],
  ),
  oldNameErrors: row<2 | 73 | null>(
    'Code of the errors about names that no new collection may have, in their words until 4.0; none: later codes and words.',
    'insert.cpp, userAllowedCreateNS',
    ['2.6', 2],
    ['4.0', 73],
    ['4.4', null],
  ),
  namespaceBytesMax: row<number>(
    'Longest namespace in bytes, with database name and dot.',
    'reference/limits, Namespace Length',
    ['2.6', 120],
    ['4.4', 255],
  ),
  createNotesAutoIndexId: row<boolean>(
    'The reply of create notes that autoIndexId is deprecated.',
    'create_command.cpp',
    ['2.6', false],
    ['4.0', true],
    ['8.0', false],
  ),
  clusteredCollections: row<boolean>(
    'create accepts clusteredIndex.',
    'core/clustered-collections, new in 5.3',
    ['2.6', false],
    ['6.0.2', true],
  ),
  changeStreamPreAndPostImages: row<boolean>(
    'Collections have the option changeStreamPreAndPostImages.',
    'release notes 6.0; reference/command/create',
    ['2.6', false],
    ['6.0.2', true],
  ),
  droppingMissingCollection: row<'fails without code' | 'fails' | 'succeeds'>(
    'Whether drop of a collection that does not exist succeeds, or fails with NamespaceNotFound; in 2.6 without a code.',
    'drop.cpp and commands_public.cpp of 2.6; SERVER-43894',
    ['2.6', 'fails without code'],
    ['4.0', 'fails'],
    ['7.0', 'succeeds'],
  ),
  routersDropMissingCollections: row<boolean>(
    'Through a router, drop of a collection that does not exist succeeds, and drop removes the zones of any collection.',
    'cluster_drop_cmd.cpp, configsvr_drop_collection_command.cpp; drop_collection_coordinator.cpp; before: commands_public.cpp',
    ['2.6', false],
    ['4.0', true],
  ),
  collModIsTyped: row<boolean>(
    'A generated parser checks the arguments of collMod and rejects unknown ones with its own code.',
    'coll_mod.idl; before: coll_mod.cpp, parseCollModRequest',
    ['2.6', false],
    ['5.0', true],
  ),
  defaultIndexVersion: row<1 | 2>(
    'The version of new indexes whose specification has none.',
    'index_descriptor.h; version 2 is new in 3.4',
    ['2.6', 1],
    ['4.0', 2],
  ),
  indexSpecsHaveNamespace: row<boolean>(
    'Listed index specifications end with the namespace of the collection.',
    'create_indexes.cpp, parseAndValidateIndexSpecs; removed in 4.4 by SERVER-41696',
    ['2.6', true],
    ['4.4', false],
  ),
  partialFilterOrAndIn: row<boolean>(
    'partialFilterExpression may contain $or and $in.',
    'core/index-partial; index_catalog_impl.cpp',
    ['2.6', false],
    ['6.0.2', true],
  ),
  prepareUniqueIndexes: row<boolean>(
    'collMod accepts prepareUnique and unique, and can add a time to live to an index.',
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
    'Updates may change the size of documents in capped collections.',
    'collection_impl.cpp, updateDocument',
    ['2.6', false],
    ['6.0.2', true],
  ),
}
