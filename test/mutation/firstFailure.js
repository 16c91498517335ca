const Environment = require('../engine/environment');

const FAILURES = new Set(['test_fn_failure', 'hook_failure']);

/** Ends a test file with its first failure: that one notices the mutant, and a mutant that hangs hangs once. */
module.exports = class FirstFailure extends Environment {
	#hasFailed = false;

	async handleTestEvent({ name, test }) {
		// The environments of earlier files hear of it too: all of them share one realm.
		if (name === 'run_start') this.#hasFailed = false;
		if (name === 'test_start' && this.#hasFailed) test.mode = 'skip';
		// Tests whose beforeAll failed have failed without a word of their own.
		if (FAILURES.has(name) && test !== undefined) this.#hasFailed = true;
	}
};
