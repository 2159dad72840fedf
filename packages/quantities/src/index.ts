export { durationFrom, durationMeant, durationPattern, formatDuration, parseDuration, timeUnitsMs } from './duration.js'
export { QuantityError } from './quantity-error.js'
export {
  bandwidthFrom,
  formatSize,
  parseSize,
  readableSize,
  sizeFrom,
  sizeUnitsBytes,
  withReadableSizes,
} from './size.js'
