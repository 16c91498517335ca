import nock from 'nock';
import { engineHarness, engineTool, service } from '../../engine';
import {
	accepted,
	respondWith,
	runPush,
	pushNode,
	phonesOf,
	rejection,
	rowsOf,
} from './pushHarness';

engineHarness();
const check = { whatToDo: 'check' };
const rows = rowsOf(
	{ phone: '90000 00001', person_name: 'Asha' },
	{ phone: 'call me' },
	{ phone: '+919000000001', person_name: 'A' },
	{ phone: 9000000002 },
);

/** The one request that *Check Only* makes. */
function campaign(status = 'Active'): void {
	const data = { campaign: { id: 42, status }, calls: {}, uploads: [] };
	service().get('/v1/campaigns/42/status').reply(200, { success: true, data });
}

test('checks everything, sends nothing, and reports the results', async () => {
	campaign('Paused');
	const { pushed, rejected, hints, error } = await runPush(rows, check);
	expect(error).toBeUndefined();
	expect(nock.isDone()).toBe(true);
	expect(pushed).toEqual([
		{
			json: {
				checked_only: true,
				summary:
					"4 rows: 2 ready, 1 rejected, 1 duplicate. The campaign's status is Paused, so its contacts can be pushed, but nobody is called until it's active. Only a push checks the agent's do-not-disturb list, its outbound number, and what the service rejects.",
				totals: expect.objectContaining({ received: 4, ready: 2, pushed: 0, rejected: 1 }),
				campaign_status: 'Paused',
			},
			pairedItem: [{ item: 0 }, { item: 3 }],
		},
	]);
	expect(rejected.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 1 }, { item: 2 }]);
	expect(hints).toEqual([
		"'What to Do' is 'Check Only', so nothing was sent. 4 rows: 2 ready, 1 rejected, 1 duplicate. The campaign's status is Paused, so its contacts can be pushed, but nobody is called until it's active. Only a push checks the agent's do-not-disturb list, its outbound number, and what the service rejects.",
	]);
});

test('with One Item per Row, returns the status and the number to send of each row', async () => {
	campaign();
	const { pushed, rejected } = await runPush(rows, {
		...check,
		options: { output: 'rows' },
	});
	expect(pushed).toEqual([
		{
			json: {
				phone: '90000 00001',
				person_name: 'Asha',
				push_status: 'ready',
				push_warnings: null,
				phone_sent: null,
				phone_to_send: '9000000001',
				phone_key: '919000000001',
				campaign_upload_id: null,
			},
			pairedItem: { item: 0 },
		},
		expect.objectContaining({ pairedItem: { item: 3 } }),
	]);
	expect(rejected.map(({ json }) => json.push_status)).toEqual(['rejected', 'duplicate']);
});

test('stops if the service rejects the campaign, and names no row that was not sent', async () => {
	service().get('/v1/campaigns/42/status').reply(200, rejection("Couldn't find Campaign"));
	const { error } = await runPush(rows, check);
	expect(error).toMatchObject({
		message: expect.stringMatching(/doesn't know this campaign/),
		description: expect.not.stringContaining('Not sent'),
	});
});

test('as a tool, reports the result, and the same contacts can be pushed afterwards', async () => {
	campaign();
	const row = { phone: '9000000001' };
	const dry = engineTool(pushNode(check), { row });
	const summary =
		"1 row: 1 ready. Only a push checks the agent's do-not-disturb list, its outbound number, and what the service rejects.";
	expect(await dry()).toMatchObject({
		outcome: 'done',
		what_happened: `Nothing was pushed, because this tool only checks the contacts. ${summary}`,
		result: { checked_only: true, summary, rejected: [] },
	});
	const bodies = respondWith([200, accepted(1)]);
	const real = engineTool(pushNode(), { row });
	expect(await real()).toMatchObject({
		outcome: 'done',
		result: { campaign_upload_id: 501 },
	});
	expect(bodies.map(phonesOf)).toEqual([['9000000001']]);
});
