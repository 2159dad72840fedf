/** Reads of several members, and of the past. */
import { row } from '../row.js'

export const readBehaviours = {
  hedgedReads: row<boolean>(
    'Routers may send a read to two members of a set, and use the first reply.',
    'core/read-preference, Hedged Reads; hedge_options_util.cpp',
    ['2.6', false],
    ['4.4', true],
  ),
  hedgedReadsByDefault: row<boolean>(
    'The parameter readHedgingMode is on until it is set.',
    'reference/parameters, readHedgingMode',
    ['2.6', false],
    ['4.4', true],
    ['8.0', false],
  ),
  hedgedReadsOnRequest: row<boolean>(
    'The parameter readHedgingMode is off until it is set.',
    'reference/parameters, readHedgingMode',
    ['2.6', false],
    ['8.0', true],
  ),
  snapshotReads: row<boolean>(
    'Reads outside of transactions accept read concern snapshot.',
    'reference/read-concern-snapshot',
    ['2.6', false],
    ['5.0', true],
  ),
  snapshotReadsOfCapped: row<boolean>(
    'Reads with read concern snapshot may read capped collections; otherwise they fail with SnapshotUnavailable.',
    'reference/read-concern-snapshot; db_raii.cpp, assertReadConcernSupported',
    ['2.6', false],
    ['8.0', true],
  ),
  snapshotsHaveTheirCatalog: row<boolean>(
    'A read of the past finds the collections of that time. Otherwise collections that were dropped since then are missing, and those that were created or renamed fail with SnapshotUnavailable.',
    'collection_catalog.cpp, establishConsistentCollection (featureFlagPointInTimeCatalogLookups); db_raii.cpp',
    ['2.6', false],
    ['7.0', true],
  ),
}
