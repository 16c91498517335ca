const fc = require('fast-check');

// The same values in every run, so that a failure is about the change. `PROPERTY_SEED=new` looks for new failures.
const SEED = 20_261_122;
if (process.env.PROPERTY_SEED !== 'new') fc.configureGlobal({ seed: SEED });
