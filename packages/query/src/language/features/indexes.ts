import type { FeatureGroup } from '../feature-group.js'

export const indexFeatures: FeatureGroup = {
  title: 'Index types and options',
  about:
    'A key of an unknown type is an illegal name of a field, or 16763 for compound hashed keys; an unknown option fails with InvalidIndexSpecificationOption 197, and in 2.6 it has no effect.',
  source:
    'index_key_validate.cpp, index_catalog.cpp (2.6), hash_access_method.cpp; reference/command/createIndexes; core/index-hashed',
  since: {
    '2.6': ['expireAfterSeconds', 'hashed', 'sparse', 'unique'],
    '3.0': ['storageEngine'],
    '3.2': ['partialFilterExpression'],
    '3.4': ['collation'],
    '4.2': ['wildcard', 'wildcardProjection'],
    '4.4': ['compoundHashed', 'hidden'],
    '5.3': ['clustered', 'prepareUnique'],
    '6.1': ['columnstoreProjection'],
  },
}
