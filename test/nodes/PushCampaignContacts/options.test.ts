import nock from 'nock';
import { engineHarness, service } from '../../engine';
import { accepted, respondWith, runPush, jsonOf, PATH, rowsOf, totals } from './pushHarness';

const harness = engineHarness();

describe('options', () => {
	test('Additional Body Fields and Additional Query Fields', async () => {
		const body = { source: 'sheet', agent_uuid: 'agent_5f2c', enqueue: false };
		service()
			.post(PATH, { ...body, contacts: [{ phone: '9876543210' }] })
			.query({ locale: 'en' })
			.reply(200, accepted(1));
		const { error } = await runPush(harness, rowsOf({ phone: '9876543210' }), {
			developerSettings: {
				additionalBodyFields: '{ "source": "sheet", "agent_uuid": "agent_other", "contacts": [] }',
				additionalQueryParameters: '{ "locale": "en" }',
			},
		});
		expect(error).toBeUndefined();
		expect(nock.isDone()).toBe(true);
	});

	test('Output: one summary item adds up the responses', async () => {
		const first = { campaign_upload_id: 1, enqueued: true, queued_calls: 9_998, warnings: ['w'] };
		const second = { campaign_upload_id: 2, enqueued: true, queued_calls: 1, warnings: ['w'] };
		const dnd = { dnd_skipped: [{ number: 'x' }], engine_skipped_duplicates: ['+919000000009'] };
		respondWith(
			[200, accepted(10_000, { ...first, ...dnd })],
			[200, accepted(2, { ...second, ...dnd })],
		);
		const input = Array.from({ length: 10_002 }, (_, i) => ({ json: { phone: 9e9 + i } }));
		const { pushed } = await runPush(harness, input, { options: { output: 'summary' } });
		expect(jsonOf(pushed)).toEqual([
			{
				summary: '10,002 rows: 10,001 pushed, 1 skipped by the service as a duplicate.',
				campaign_upload_ids: [1, 2],
				enqueued: true,
				contacts_received: 10_002,
				contacts_accepted: 10_002,
				duplicates_removed: 0,
				queued_calls: 9_999,
				engine_skipped_duplicates: ['+919000000009', '+919000000009'],
				dnd_skipped: [{ number: 'x' }, { number: 'x' }],
				warnings: ['w'],
				totals: {
					...totals,
					received: 10_002,
					pushed: 10_001,
					skipped_duplicate: 1,
					requests: 2,
					skipped_unmatched: 3,
				},
			},
		]);
		expect(pushed[0]?.pairedItem).toHaveLength(10_001);
	});
});
