/** Every request that the config server answers. */
import { changelogHandlers } from './changelog.js'
import { collectionHandlers } from './collections.js'
import { databaseHandlers } from './databases.js'
import { memberHandlers } from './members.js'
import { settingsHandlers } from './settings.js'
import type { ConfigHandlers } from './sharding-catalog.js'

export const configHandlers: ConfigHandlers = {
  ...memberHandlers,
  ...databaseHandlers,
  ...collectionHandlers,
  ...settingsHandlers,
  ...changelogHandlers,
}
