import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { credentialFor } from '../../contract/credentialFor';
import { dialects } from '../../simulator';
import { useSimulator } from '../../simulator/testing/useSimulator';
import { fill } from '../../simulator/state/fill';
import { mockTime } from '../../engine';
import { nodeHarness } from '../nodeHarness';

const { records } = nodeHarness('getCall');
const simulator = useSimulator({ dialect: dialects.plain, minGapMs: 1_000 });

beforeEach(() => {
	// A sleep advances the clock of the service instead of waiting.
	mockTime(() => simulator().clock.now());
	jest.spyOn(clock, 'sleep').mockImplementation(async (ms) => {
		simulator().clock.advance(ms);
		await Promise.resolve();
	});
});
afterEach(() => jest.restoreAllMocks());
test('with Concurrency 1, a service that accepts one request per second returns all calls', async () => {
	const { state } = simulator();
	fill(state, simulator().clock.now(), { calls: 300, dndPhones: 0, sessions: 0 });
	const found = await records(
		{
			operation: 'getMany',
			returnAll: true,
			options: { latestOfEachNumber: true },
			developerSettings: { concurrency: 1 },
		},
		{ credential: credentialFor(simulator()) },
	);
	const numbers = new Set([...state.calls.values()].map(({ phone }) => phone));
	expect(found).toHaveLength(numbers.size);
});
