/** *If the Outcome Is Unknown* is *Look It Up*: the status of the campaign may show a list late. */
import type { IRun } from 'n8n-workflow';
import {
	engineHarness,
	engineTool,
	oneNodeWorkflow,
	output,
	retryFailed,
	runWorkflow,
	service,
} from '../../engine';
import { skipSleeps } from '../../engine/time';
import {
	accepted,
	respondWith,
	breaking,
	contactList,
	manyRows,
	phone,
	phonesOf,
	pushNode,
	rejection,
	showLists,
	type NodeParameters,
} from './pushHarness';

const harness = engineHarness();
beforeEach(() => skipSleeps());
afterEach(() => jest.restoreAllMocks());

const lookUp: NodeParameters = { options: { ifUnknown: 'lookUp', contactsPerRequest: 2 } };

const statuses = (run: IRun) => output(run, 'Node', 1).map(({ json }) => json.rejection_status);
const flow = () =>
	oneNodeWorkflow(pushNode(harness, lookUp, { onError: 'continueRegularOutput' }), [
		'Pushed',
		'Rejected',
	]);

test("a list of this push that the campaign shows late isn't treated as the lost one", async () => {
	showLists([], [], ...Array.from({ length: 6 }, () => [contactList(501, 2)]));
	const bodies = breaking('ECONNRESET', respondWith([200, accepted(2)]));
	const { workflow, start } = flow();
	const run = await runWorkflow(harness.credentials, workflow, start, manyRows(4));
	expect(bodies.map(phonesOf)).toHaveLength(2);
	expect(statuses(run)).toEqual(['unknown', 'unknown']);
});

test("a list of an earlier attempt isn't treated as the lost one", async () => {
	respondWith([200, accepted(2)], [409, rejection('Campaign is archived')]);
	showLists([], [], [], ...Array.from({ length: 6 }, () => [contactList(501, 2)]));
	const node = pushNode(harness, lookUp);
	const { workflow, start } = oneNodeWorkflow(node, ['Pushed', 'Rejected']);
	const failed = await runWorkflow(harness.credentials, workflow, start, manyRows(4));
	breaking('ECONNRESET');
	const again = await retryFailed(harness.credentials, failed, flow().workflow);
	expect(output(again, 'Node')).toHaveLength(1);
	expect(statuses(again)).toEqual(['unknown', 'unknown']);
});

test('the lost list is found beside a list of this push', async () => {
	showLists([], [], [contactList(501, 2), contactList(502, 2)]);
	breaking('ECONNRESET', respondWith([200, accepted(2)]));
	const { workflow, start } = flow();
	const run = await runWorkflow(harness.credentials, workflow, start, manyRows(4));
	expect(output(run, 'Node').map(({ json }) => json.campaign_upload_id)).toEqual([501, 502]);
	expect(statuses(run)).toEqual([]);
});

test('as a tool, its time limit ends the search, and the message says so', async () => {
	const over = new AbortController();
	jest.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(over.signal);
	showLists([]);
	breaking('ECONNRESET');
	service()
		.get('/v1/campaigns/42/status')
		.reply(200, () => {
			over.abort();
			return { success: true, data: { campaign: { id: 42 }, calls: {}, uploads: [] } };
		});
	const node = pushNode(harness, {
		...lookUp,
		contactsFrom: 'json',
		contacts: "={{ $fromAI('contacts', '', 'json') }}",
	});
	const answer = await engineTool(harness.credentials, node)({ contacts: [{ phone: phone(0) }] });
	expect(answer).toMatchObject({ outcome: 'unknown' });
	expect(JSON.stringify(answer)).toContain('The tool ran out of time before the search ended.');
	expect(JSON.stringify(answer)).not.toContain('The execution was stopped');
});
