const Environment = require('../../engine/environment');

const FAILURES = new Set(['test_fn_failure', 'hook_failure']);

/** Skips the rest of a test file after its first failure, which is enough to detect a mutant. */
module.exports = class FirstFailure extends Environment {
	#hasFailed = false;

	async handleTestEvent({ name, test }) {
		if (name === 'test_start' && this.#hasFailed) test.mode = 'skip';
		// If beforeAll fails, its tests fail without an event of their own.
		if (FAILURES.has(name) && test !== undefined) this.#hasFailed = true;
	}
};
