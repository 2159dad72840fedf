import { threadJob } from '../../src/index.js'
import { echo } from './echo.js'

export default threadJob(echo)
