import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
/** What to Do: Check Only. */
import { engineTool, output, runNode, service } from '../../engine';
import { WITH_PROFILE, listOf, PATH as DND_PATH } from '../Dnd/dndHarness';
import {
	campaign,
	jsonOf,
	phone,
	push,
	pushHarness,
	pushNode,
	rejection,
	rowsOf,
	runPush,
	scripted,
} from './pushHarness';

const harness = pushHarness();
const check = { whatToDo: 'check' };
const asRows = { ...check, options: { output: 'rows' } };
const rows = rowsOf(
	{ phone: '90000 00001', person_name: 'Asha' },
	{ phone: 'call me' },
	{ phone: '+919000000001', person_name: 'A' },
	{ phone: 9000000002 },
);

const LIST_NOT_DESCRIBED =
	"The credential doesn't describe the agent's do-not-disturb list, so only the service checks it.";
const ONLY_PUSH = "Only a push checks the agent's outbound number, and what the service rejects.";

test('checks everything, sends nothing, and reports the results', async () => {
	campaign('Paused');
	const { pushed, rejected, skipped, hints } = await push(rows, check);
	const summary = `4 rows: 2 ready, 1 rejected, 1 duplicate. The campaign's status is Paused, so its contacts can be pushed, but nobody is called until it's active. The agent is active. ${LIST_NOT_DESCRIBED} ${ONLY_PUSH}`;
	expect(pushed).toEqual([
		{
			json: {
				checked_only: true,
				summary,
				totals: expect.objectContaining({ received: 4, ready: 2, pushed: 0, rejected: 1 }),
				campaign_status: 'Paused',
			},
			pairedItem: [{ item: 0 }, { item: 3 }],
		},
	]);
	const items = [...rejected, ...skipped].map(({ pairedItem }) => pairedItem);
	expect(items).toEqual([{ item: 1 }, { item: 2 }]);
	expect(hints).toEqual([`'What to Do' is 'Check Only', so nothing was sent. ${summary}`]);
});

test('with One Item per Row, returns the status and the key of each row', async () => {
	campaign();
	const unknown = { phone: '90000 00003', push_status: ' Unknown ' };
	const { pushed, rejected, skipped } = await push([...rows, ...rowsOf(unknown)], asRows);
	expect(pushed).toEqual([
		{
			json: {
				phone: '90000 00001',
				person_name: 'Asha',
				push_status: 'ready',
				phone_key: '919000000001',
			},
			pairedItem: { item: 0 },
		},
		expect.objectContaining({ pairedItem: { item: 3 } }),
	]);
	// A row that may be in a campaign isn't ready.
	expect(jsonOf(rejected)).toMatchObject([
		{ push_status: 'rejected' },
		{
			push_status: 'unknown',
			rejection_reason: expect.stringMatching(/To push it, empty push_status of that row/),
		},
	]);
	expect(jsonOf(skipped)).toMatchObject([{ push_status: 'duplicate' }]);
});

test('stops if the service rejects the campaign, and names no row that was not sent', async () => {
	service().get('/v1/campaigns/42/status').reply(200, rejection("Couldn't find Campaign"));
	expect((await runPush(rows, check)).error).toMatchObject({
		message: expect.stringMatching(/doesn't know this campaign/),
		description: expect.not.stringContaining('Not sent'),
	});
});

test('stops if a list has no names, as Add and Release does', async () => {
	const { error } = await runPush(rowsOf({ phone: phone(1) }, { phone: phone(2) }), check);
	expect(error?.message).toBe('The input has no column "person_name", so nothing was sent');
});

test('as a tool, reports the result, and the same contacts can be pushed afterwards', async () => {
	campaign();
	const sent = scripted();
	const row = { phone: phone(1) };
	const summary = `1 row: 1 ready. The agent is active. ${LIST_NOT_DESCRIBED} ${ONLY_PUSH}`;
	expect(await engineTool(pushNode(check), { row })()).toMatchObject({
		outcome: 'done',
		what_happened: `Nothing was pushed, because this tool only checks the contacts. ${summary}`,
		result: { checked_only: true, totals: { received: 1, ready: 1 } },
	});
	expect(await engineTool(pushNode(), { row })()).toMatchObject({ outcome: 'done' });
	expect(sent).toEqual([[phone(1)]]);
});

describe('the agent', () => {
	const summaryOf = async (credential: ICredentialDataDecryptedObject = {}) => {
		const { parameters } = pushNode(check);
		const node = await harness.nodeWith(credential, 'pushCampaignContacts', { parameters });
		const [item] = output(await runNode(node, rows), 'Node');
		return item?.json.summary;
	};
	const activeAgents = () => service().get('/v1/active_agents');
	const dndList = () => service().get(DND_PATH).query({ list_agent: 'agent_5f2c', list_size: 100 });
	const ofAgent = (...phones: string[]) => {
		const list = listOf(...phones);
		return { ...list, data: list.data.map((one) => ({ ...one, agent_uuid: 'agent_5f2c' })) };
	};

	test.each<[object[], object, string]>([
		[
			[{ agent_uuid: 'agent_other' }],
			{},
			"1 duplicate. The agent isn't among the active agents of the account, so it may not call anybody.",
		],
		[
			[],
			{ total_pages: 2 },
			"The list of active agents couldn't be read: The response has only 0 of the active agents, so it's unknown whether this agent",
		],
		[[{ id: 1 }], {}, 'no recognizable list of active agents'],
	])('with the active agents %j %j', async (data, meta, words) => {
		activeAgents().reply(200, { success: true, data, meta });
		campaign();
		expect(await summaryOf()).toContain(words);
	});

	test.each([
		[['+919000000001', '+919111111111'], ''],
		[['+919000000001', '98*** 12345'], ' The list leaves it open for 1 more.'],
	])('with %j on its do-not-disturb list, which the credential describes', async (listed, more) => {
		campaign();
		dndList().reply(200, ofAgent(...listed));
		expect(await summaryOf(WITH_PROFILE)).toBe(
			`4 rows: 2 ready, 1 rejected, 1 duplicate. The agent is active. The agent's do-not-disturb list has 1 of 2 ready rows.${more} ${ONLY_PUSH}`,
		);
	});

	test('the check returns what it knows if the lists cannot be read', async () => {
		activeAgents().times(4).reply(503, '');
		campaign();
		dndList().times(4).reply(503, '');
		const summary = await summaryOf(WITH_PROFILE);
		expect(summary).toContain('4 rows: 2 ready, 1 rejected, 1 duplicate.');
		expect(summary).toContain("The list of active agents couldn't be read: ");
		expect(summary).toContain("The agent's do-not-disturb list couldn't be read: ");
	});
});
