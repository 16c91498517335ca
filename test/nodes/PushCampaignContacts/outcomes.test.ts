import type { JsonObject } from '../../../nodes/shared/json';
import { engineHarness, TOKEN } from '../../engine';
import { accepted, respondWith, runPush, manyRows, rejection, WAITING } from './pushHarness';

const harness = engineHarness();
const two = manyRows(2);

describe('documented rejections stop the push and say what to do', () => {
	test.each<[string, number, JsonObject, RegExp, RegExp]>([
		['Invalid API token', 401, rejection('Invalid API token'), /API token/, /credential/],
		[
			'another field',
			400,
			rejection('agent_uuid is required'),
			/^The service rejected the request: "agent_uuid is required"$/,
			/^Correct what the service names, then try again\.\n/,
		],
	])('%s', async (_name, status, body, message, advice) => {
		const bodies = respondWith([status, body]);
		const { error, run } = await runPush(harness, two);
		expect(error).toMatchObject({
			name: 'NodeApiError',
			message: expect.stringMatching(message),
			description: expect.stringMatching(advice),
			httpCode: String(status),
			context: { itemIndex: 0 },
		});
		expect(error).toHaveProperty(
			'description',
			expect.stringMatching(
				/\nNot sent: 2 rows \(rows 1 to 2\)\. Push them after this is resolved\.$/,
			),
		);
		expect(bodies).toHaveLength(1);
		expect(JSON.stringify(run)).not.toContain(TOKEN);
	});
});

test('hints show warnings and skipped numbers that match no row', async () => {
	const over = { warnings: ['Campaign is paused', { code: 'x' }], dnd_skipped: [{ number: '1' }] };
	respondWith([200, accepted(2, over)]);
	const { pushed, hints } = await runPush(harness, two);
	expect(pushed[0]?.json).toMatchObject(over);
	expect(hints).toEqual([
		`2 rows: 2 pushed. ${WAITING}`,
		'The service skipped 1 more contact that doesn\'t match any row: {"number":"1"}. The rows of skipped contacts count as pushed.',
		'Warning from the service: Campaign is paused',
		'Warning from the service: {"code":"x"}',
	]);
});
