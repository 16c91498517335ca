import type { Columns } from '../../../../../nodes/shared/service/campaignFeed/columns';
import type { FeedOutcome } from '../../../../../nodes/shared/service/campaignFeed/feed';
import { prepareFeed } from '../../../../../nodes/shared/service/campaignFeed/prepare';
import {
	pushFeed,
	RESENDS_PER_REQUEST,
	type PushOptions,
} from '../../../../../nodes/shared/service/campaignFeed/push';
import {
	countRows,
	describeOutcome,
} from '../../../../../nodes/shared/service/campaignFeed/report';
import {
	TransportFault,
	type ServiceRequest,
	type WireAnswer,
} from '../../../../../nodes/shared/service/http';
import { isJsonObject } from '../../../../../nodes/shared/service/types';
import { Service } from '../../../../../nodes/shared/service/service';

type Script = (phones: string[], request: number) => WireAnswer | TransportFault;

const columns: Columns = {
	phone: 'phone',
	personName: undefined,
	others: 'all',
	reserved: new Set(['phone']),
};
const json = (status: number, body: object): WireAnswer => ({
	status,
	headers: {},
	text: JSON.stringify(body),
});
const accept = (phones: string[], request: number): WireAnswer =>
	json(200, {
		success: true,
		data: { campaign_upload_id: 500 + request, contacts_accepted: phones.length },
	});
const refuse = (error: string, status = 400): WireAnswer =>
	json(status, { success: false, error, details: null });
const reset = new TransportFault('ECONNRESET', 'ECONNRESET');

const phonesOf = ({ body }: ServiceRequest): string[] => {
	const contacts = body?.contacts;
	if (!Array.isArray(contacts)) throw new Error('The request has no contacts');
	return contacts.map((contact) =>
		isJsonObject(contact) && typeof contact.phone === 'string' ? contact.phone : '',
	);
};

/** A service that answers by a script and remembers what it was sent. */
function scripted(script: Script) {
	const requests: ServiceRequest[] = [];
	const sent: string[][] = [];
	const transport = async (request: ServiceRequest): Promise<WireAnswer> => {
		const phones = phonesOf(request);
		requests.push(request);
		sent.push(phones);
		const answer = script(phones, sent.length);
		if (answer instanceof TransportFault) throw answer;
		return answer;
	};
	const clock = { now: () => 0, sleep: async () => {} };
	const options: PushOptions = {
		service: new Service(transport, clock, () => 0),
		campaign: { id: 42, agentUuid: 'agent_a', enqueue: false },
		columns,
		additions: {},
		stopRequested: () => false,
	};
	return { requests, sent, options };
}

const phone = (index: number) => String(9_000_000_000 + index);
const feedOf = (count: number) =>
	Array.from({ length: count }, (_, index) => ({ json: { phone: phone(index) } }));

async function push(count: number, options: PushOptions, earlier?: FeedOutcome) {
	const items = feedOf(count);
	const checks = { normalizePhones: true, removeDuplicates: true };
	const prepared = await prepareFeed(items, columns, checks, async () => {});
	return await pushFeed(items, prepared, options, earlier);
}

const statuses = ({ leftOut }: FeedOutcome) =>
	leftOut.map(({ index, status }) => `${index} ${status}`);

describe('requests', () => {
	test('hold 10,000 contacts at most, in order, one after another', async () => {
		const { requests, sent, options } = scripted(accept);
		const outcome = await push(20_001, options);
		expect(sent.map((phones) => phones.length)).toEqual([10_000, 10_000, 1]);
		expect(sent.flat()).toEqual(feedOf(20_001).map((item) => item.json.phone));
		expect(requests[0]).toMatchObject({ method: 'POST', path: '/v1/campaigns/42/contacts' });
		expect(requests[0]?.body).toMatchObject({ agent_uuid: 'agent_a', enqueue: false });
		expect(outcome.stopped).toBeUndefined();
		expect(outcome.pushed.map(({ answer }) => answer.campaign_upload_id)).toEqual([501, 502, 503]);
	});

	test('carry additional fields, which cannot replace documented ones', async () => {
		const { requests, options } = scripted(accept);
		const additions = { body: { agent_uuid: 'agent_x', tag: 'spring' }, query: { source: 'n8n' } };
		await push(1, { ...options, additions });
		expect(requests[0]?.body).toMatchObject({ agent_uuid: 'agent_a', tag: 'spring' });
		expect(requests[0]?.query).toEqual({ source: 'n8n' });
	});

	test('are not made when no row is left', async () => {
		const { sent, options } = scripted(accept);
		expect(await push(0, options)).toEqual({ received: 0, pushed: [], leftOut: [] });
		expect(sent).toEqual([]);
	});
});

describe('rows that the service names', () => {
	test.each<[string, WireAnswer]>([
		['in error', refuse('contacts[1].phone is invalid')],
		['in errors', json(400, { success: false, errors: ['contacts[1] has an invalid phone'] })],
		['at 422', json(422, { success: false, errors: ['contacts[ 1 ]: phone'] })],
	])('%s are rejected, and the others are sent again without them', async (_name, refusal) => {
		const { sent, options } = scripted((phones, request) =>
			request === 1 ? refusal : accept(phones, request),
		);
		const outcome = await push(3, options);
		expect(sent).toEqual([
			[phone(0), phone(1), phone(2)],
			[phone(0), phone(2)],
		]);
		expect(outcome.pushed.map(({ rows }) => rows)).toEqual([[0, 2]]);
		expect(outcome.leftOut).toEqual([
			{
				index: 1,
				status: 'rejected',
				reason: expect.stringMatching(/^The service does not accept this row\. It said: contacts/),
			},
		]);
		expect(outcome.stopped).toBeUndefined();
	});

	test('several at once are all rejected, each with the words about it', async () => {
		const { sent, options } = scripted((phones, request) =>
			request === 1
				? json(400, { success: false, errors: ['contacts[0] bad', 'contacts[2] worse'] })
				: accept(phones, request),
		);
		const outcome = await push(3, options);
		expect(sent[1]).toEqual([phone(1)]);
		expect(outcome.leftOut.map(({ reason }) => reason.slice(-15))).toEqual([
			'contacts[0] bad',
			'ontacts[2] worse'.slice(-15),
		]);
	});

	test('are counted from the start of their own request', async () => {
		const { options } = scripted((phones, request) =>
			request === 2 ? refuse('contacts[5] is invalid') : accept(phones, request),
		);
		expect(statuses(await push(10_010, options))).toEqual(['10005 rejected']);
	});

	test('one after another end in no request when none is left', async () => {
		const { sent, options } = scripted(() => refuse('contacts[0] is invalid'));
		const outcome = await push(2, options);
		expect(sent.map((phones) => phones.length)).toEqual([2, 1]);
		expect(statuses(outcome)).toEqual(['0 rejected', '1 rejected']);
		expect(outcome.stopped).toBeUndefined();
	});

	test('are given up on after a bounded number of attempts', async () => {
		const { sent, options } = scripted(() => refuse('contacts[0] is invalid'));
		const outcome = await push(RESENDS_PER_REQUEST + 2, options);
		expect(sent).toHaveLength(RESENDS_PER_REQUEST + 1);
		expect(outcome.stopped?.message).toMatch(/refused more than 100 rows of one request/);
		expect(statuses(outcome).slice(-2)).toEqual(['100 rejected', '101 not_sent']);
	});

	test.each<[string, WireAnswer]>([
		['beyond the request', refuse('contacts[3] is invalid')],
		['at a status that is not about validation', refuse('contacts[1] is invalid', 403)],
	])('%s reject no row', async (_name, refusal) => {
		const { sent, options } = scripted(() => refusal);
		expect(statuses(await push(3, options))).toEqual(['0 not_sent', '1 not_sent', '2 not_sent']);
		expect(sent).toHaveLength(1);
	});
});

describe('a feed that stops', () => {
	const atSecond =
		(answer: WireAnswer | TransportFault): Script =>
		(phones, request) =>
			request === 2 ? answer : accept(phones, request);

	test.each<[string, WireAnswer | TransportFault, 'unknown' | 'not_sent', number]>([
		['broken connection', reset, 'unknown', 2],
		['service fault', json(503, {}), 'unknown', 2],
		['unreadable answer', { status: 200, headers: {}, text: '{"success":tr' }, 'unknown', 2],
		['web page', { status: 200, headers: {}, text: '<html>' }, 'unknown', 2],
		['refusal at 200', refuse('agent_not_found', 200), 'not_sent', 2],
		['archived campaign', refuse('Campaign is archived', 409), 'not_sent', 2],
	])('%s: nothing is sent twice and every row is told apart', async (_n, answer, status, calls) => {
		const { sent, options } = scripted(atSecond(answer));
		const outcome = await push(20_001, options);
		expect(sent).toHaveLength(calls);
		expect(new Set(sent.flat()).size).toBe(sent.flat().length);
		expect(outcome.stopped?.outcome).toBe(status === 'unknown' ? 'unknown' : 'refused');
		expect(countRows(outcome)).toEqual({
			received: 20_001,
			requests: 1,
			pushed: 10_000,
			rejected: 0,
			duplicate: 0,
			unknown: status === 'unknown' ? 10_000 : 0,
			not_sent: status === 'unknown' ? 1 : 10_001,
		});
	});

	test('a refused connection is tried again, and then nothing was sent', async () => {
		const { sent, options } = scripted(atSecondAndOn(new TransportFault('ECONNREFUSED', '')));
		const outcome = await push(10_001, options);
		expect(sent.map((phones) => phones.length)).toEqual([10_000, 1, 1, 1, 1]);
		expect(statuses(outcome)).toEqual(['10000 not_sent']);
	});

	test('a request that was asked to wait is sent again', async () => {
		const { sent, options } = scripted(atSecond({ status: 429, headers: {}, text: '' }));
		const outcome = await push(10_001, options);
		expect(sent.map((phones) => phones.length)).toEqual([10_000, 1, 1]);
		expect(outcome.leftOut).toEqual([]);
	});

	test('because the workflow was stopped sends no further request', async () => {
		const { sent, options } = scripted(accept);
		const outcome = await push(10_001, { ...options, stopRequested: () => sent.length === 1 });
		expect(statuses(outcome)).toEqual(['10000 not_sent']);
		expect(outcome.stopped?.message).toMatch(/^The workflow was stopped/);
	});

	test('by something unforeseen leaves its rows unknown', async () => {
		const { options } = scripted(() => {
			throw new TypeError('a defect');
		});
		const outcome = await push(1, options);
		expect(statuses(outcome)).toEqual(['0 unknown']);
		expect(outcome.stopped?.serviceSaid).toBe('a defect');
	});

	test('goes on where it stopped when the node is tried again', async () => {
		const first = scripted(atSecond(json(503, {})));
		const second = scripted(accept);
		const outcome = await push(20_001, second.options, await push(20_001, first.options));
		expect(second.sent).toEqual([[phone(20_000)]]);
		expect(outcome.stopped?.outcome).toBe('unknown');
		expect(countRows(outcome)).toMatchObject({ pushed: 10_001, unknown: 10_000, not_sent: 0 });
	});

	test('and knew the fate of every row ends well when it is tried again', async () => {
		const first = scripted(atSecond(refuse('Campaign is archived', 409)));
		const second = scripted(accept);
		const outcome = await push(10_002, second.options, await push(10_002, first.options));
		expect(second.sent).toEqual([[phone(10_000), phone(10_001)]]);
		expect(outcome.stopped).toBeUndefined();
		expect(countRows(outcome)).toMatchObject({ pushed: 10_002, requests: 2, not_sent: 0 });
	});
});

test('the outcome is told in words, exactly', async () => {
	const { options } = scripted((phones, request) => {
		if (request === 1) return refuse('contacts[7] is invalid');
		return request === 2 ? accept(phones, request) : json(503, {});
	});
	expect(describeOutcome(await push(20_001, options))).toBe(
		[
			'Pushed: 9,999 rows (items 0 to 6, 8 to 9999, contact lists 502).',
			'Unknown: 10,000 rows (items 10000 to 19999). They may or may not be in the campaign: compare its newest contact list with your rows (Campaign Status shows the lists) before you push them again.',
			'Not sent: 1 row (item 20000). They can be pushed again as they are.',
			'Rejected: 1 row. [item 7] The service does not accept this row. It said: contacts[7] is invalid',
		].join('\n'),
	);
});

function atSecondAndOn(answer: TransportFault): Script {
	return (phones, request) => (request >= 2 ? answer : accept(phones, request));
}
