/** What a person sees as a hint beside the output, a model gets with the result. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { engineHarness, engineTool, hintsOf, runNode, service } from '../../../engine';
import { AGENT, listOf, PATH as DND, PROFILE } from '../../Dnd/dndHarness';

const harness = engineHarness();

const callList = (count: number) => ({
	success: true,
	data: Array.from({ length: count }, (_, index) => ({ call_id: `c${index}`, status: 'picked' })),
});
const getMany = { operation: 'getMany' };
const filtered = { ...getMany, filters: { campaignUploadId: '314' } };
const byStatus = { ...getMany, filters: { status: 'missed' } };
const SHOWN = { calls: { query: { st: '{status?}' }, list: 'data', next: 'none' } };
const NOT_COMPLETE = 'Do not treat this list as complete.';
const STATUSES =
	'Known statuses are picked, not_picked, and failed. Any other one is sent to the service as it is.';

type Case = {
	type: string;
	parameters: INodeParameters;
	profile?: IDataObject;
	path: string;
	method?: 'get' | 'post';
	response: object;
	happened: string;
	next: string;
	/** What only a person is told. Undefined if there's no hint for a person. */
	onScreen?: string;
};

const cases: { [what: string]: Case } = {
	'the first page of a list of calls': {
		type: 'getCall',
		parameters: getMany,
		path: '/v1/calls',
		response: callList(9),
		happened: 'The service returned 9 calls in its first response and may have more.',
		next: NOT_COMPLETE,
		onScreen: 'add "calls" to',
	},
	'a list of calls that is cut to its limit': {
		type: 'getCall',
		parameters: { ...getMany, limit: 2 },
		path: '/v1/calls',
		response: callList(2),
		happened: 'The list ends at the limit of 2 calls, and there may be more.',
		next: NOT_COMPLETE,
	},
	'a filter with which the service has no calls': {
		type: 'getCall',
		parameters: filtered,
		path: '/v1/calls',
		response: { success: true, data: [] },
		happened: 'The service has no call with Contact List ID "314".',
		next: 'Check these values.',
		onScreen: 'Check these values.',
	},
	'a status that no call has': {
		type: 'getCall',
		parameters: byStatus,
		profile: SHOWN,
		path: '/v1/calls',
		response: { success: true, data: [] },
		happened: 'The service has no call with Status "missed".',
		next: `Check these values. ${STATUSES}`,
		onScreen: STATUSES,
	},
	'a do-not-disturb list that is cut to its limit': {
		type: 'dnd',
		parameters: { ...getMany, agentUuid: AGENT, limit: 1 },
		profile: PROFILE,
		path: DND,
		response: listOf('+919876543210', '+919876543211'),
		happened: 'The list ends at the limit of 1 number, and there may be more.',
		next: NOT_COMPLETE,
	},
	'digits that no number on the list has': {
		type: 'dnd',
		parameters: { ...getMany, agentUuid: AGENT, phoneContains: '98765' },
		profile: PROFILE,
		path: DND,
		response: listOf(),
		happened: 'No number on the list contains "98765".',
		next: 'Fewer digits find more numbers.',
		onScreen: 'Fewer digits find more numbers.',
	},
	'a session without an ID': {
		type: 'chatSession',
		parameters: { resource: 'session', operation: 'create', agentUuid: AGENT },
		profile: { 'chat.session': { body: { a: '{agent}' } } },
		path: '/v1/chat/session',
		method: 'post',
		response: { success: true, data: { id: 's-2' } },
		happened: "A chat session was created, but its ID wasn't found in the response.",
		next: 'the person who set up this tool must fix this',
		onScreen: 'check "session" in "chat.session"',
	},
};

test.each(Object.entries(cases))('%s', async (_what, one) => {
	const { type, parameters, profile = {}, path, method = 'get', response } = one;
	const respond = () => service()[method](path).query(true).reply(200, response);
	const node = await harness.nodeWith({ serviceProfile: profile }, type, { parameters });
	respond();
	const result = await engineTool(node)();
	expect(result.outcome).toBe('done');
	expect(result.what_happened).toContain(one.happened);
	expect(result.next_step).toContain(one.next);
	respond();
	const hints = hintsOf(await runNode(node, [{ json: {} }]));
	const { onScreen } = one;
	const expected = onScreen === undefined ? [] : [expect.stringContaining(onScreen)];
	expect(hints).toEqual(expected);
	for (const hint of hints) expect(hint).toContain(one.happened);
});
