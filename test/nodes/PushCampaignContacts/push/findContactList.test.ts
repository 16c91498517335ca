import {
	LIST_SEARCH_DELAYS_MS,
	ContactListFinder,
} from '../../../../nodes/PushCampaignContacts/push/findContactList';
import type { PushOutcome } from '../../../../nodes/PushCampaignContacts/push/pushTypes';
import { PushProgress } from '../../../../nodes/PushCampaignContacts/push/progress';
import {
	TransportFault,
	type ServiceRequest,
	type HttpResponse,
} from '../../../../nodes/shared/api/http';
import type { JsonObject } from '../../../../nodes/shared/json';
import { hintsFor } from '../../../../nodes/PushCampaignContacts/push/report';
import { accept, contactsIn, json, push, reset, scripted, statuses, stored } from './scripted';
import { clientOf } from '../../shared/api/clientOf';

const OURS = 'agent_a';

const list = (id: number, queued?: number, agent: string | null = OURS): JsonObject => ({
	campaign_upload_id: id,
	...(agent !== null && { agent_uuid: agent }),
	queues:
		queued === undefined ? [] : [{ agent_uuid: OURS, total_queued: queued, completed: false }],
});

type Status = HttpResponse | TransportFault;
const shows = (...uploads: JsonObject[]): HttpResponse =>
	json(200, { success: true, data: { campaign: {}, calls: {}, uploads } });
const stumbles = json(500, { success: false, error: 'Internal server error' });

/** A campaign with these results of its status reads: before the request, and after it. */
function campaign(before: Status, ...later: Status[]) {
	const looks = [before, ...later];
	const requests: string[] = [];
	const waits: number[] = [];
	const { options, sent } = scripted((phones, request) =>
		request === 1 ? reset : accept(phones, request),
	);
	const transport = async (request: ServiceRequest): Promise<HttpResponse> => {
		const { method } = request;
		requests.push(method);
		const answer = method === 'GET' ? (looks.length > 1 ? looks.shift() : looks[0]) : undefined;
		if (method === 'POST') {
			sent.push(contactsIn(request).map(() => 'x'));
			if (sent.length === 1) throw reset;
			return accept(sent.at(-1) ?? [], sent.length);
		}
		if (answer instanceof TransportFault) throw answer;
		return answer ?? shows();
	};
	const client = clientOf(transport);
	let isStopped = false;
	const pause = async (ms: number) => {
		waits.push(ms);
		return !isStopped;
	};
	const lookUp = new ContactListFinder(client, options.campaign, pause, false);
	return {
		requests,
		sent,
		waits,
		stop: () => {
			isStopped = true;
		},
		options: { ...options, client, lookUp, contactsPerRequest: 2 },
	};
}

const messageOf = ({ stopped }: PushOutcome) => `${stopped?.message}. ${stopped?.resolution}`;
const old = list(7, 2);

describe('a request without a response', () => {
	test('counts as pushed if the campaign has one new list of its size', async () => {
		const { options, sent, waits } = campaign(shows(old), shows(old), shows(old, list(8, 2)));
		const progress = new PushProgress();
		const outcome = await push(3, options, progress);
		expect(outcome.stopped).toBeUndefined();
		expect(statuses(outcome)).toEqual([]);
		expect(
			outcome.pushed.map(({ rows, response }) => [[...rows], response.campaign_upload_id]),
		).toEqual([
			[[0, 1], 8],
			[[2], 502],
		]);
		expect(waits).toEqual(LIST_SEARCH_DELAYS_MS.slice(0, 2));
		expect(sent).toHaveLength(2);
		expect(hintsFor(outcome)).toEqual([
			expect.stringMatching(/one new contact list \(8\) with as many contacts \(2\)/),
		]);
		const again = await push(3, { ...options, lookUp: undefined }, stored(progress));
		expect(again.pushed[0]?.response).toMatchObject({ campaign_upload_id: 8, looked_up: true });
	});

	test('counts as pushed if the list has no agent', async () => {
		const { options } = campaign(shows(), shows(list(8, 2, null)));
		expect((await push(2, options)).pushed).toHaveLength(1);
	});

	test('stays unknown without a new list in two minutes, and is never sent again', async () => {
		const { options, sent, waits } = campaign(shows(old), shows(old, list(9, 2, 'agent_other')));
		const progress = new PushProgress();
		const outcome = await push(3, options, progress);
		expect(statuses(outcome)).toEqual(['0 unknown', '1 unknown', '2 not_sent']);
		expect(messageOf(outcome)).toMatch(
			/After two minutes, the campaign has no new contact list of this agent\. .* isn't certain\.$/,
		);
		expect(waits).toEqual([...LIST_SEARCH_DELAYS_MS]);
		expect(sent).toHaveLength(1);
		const again = await push(3, { ...options, lookUp: undefined }, stored(progress));
		expect(statuses(again)).toEqual(['0 unknown', '1 unknown']);
		expect(again.pushed.map(({ rows }) => [...rows])).toEqual([[2]]);
	});

	test.each<[string, JsonObject[], RegExp]>([
		[
			'of another size',
			[list(8, 1)],
			/a new contact list of this agent: 8 \(1 queued\)\. The request had 2/,
		],
		['of an unknown size', [list(8)], /8 \(an unknown number queued\)/],
		['that only waits', [list(8, 0)], /8 \(0 queued\)/],
		[
			'that is one of two',
			[list(8, 2), list(9, 2)],
			/new contact lists of this agent: 8 \(2 queued\), 9/,
		],
	])('stays unknown with a list %s', async (_name, uploads, seen) => {
		const { options, sent } = campaign(shows(old), shows(old, ...uploads));
		const progress = new PushProgress();
		const outcome = await push(3, options, progress);
		expect(statuses(outcome)).toEqual(['0 unknown', '1 unknown', '2 not_sent']);
		expect(messageOf(outcome)).toMatch(seen);
		expect(sent).toHaveLength(1);
		const again = await push(3, { ...options, lookUp: undefined }, stored(progress));
		expect(messageOf(again)).toMatch(seen);
	});

	test('stays unknown while the campaign cannot be read', async () => {
		const { options } = campaign(shows(old), stumbles);
		const outcome = await push(2, options);
		expect(statuses(outcome)).toEqual(['0 unknown', '1 unknown']);
		expect(messageOf(outcome)).toMatch(/status of the campaign couldn't be read/);
	});

	test('stays unknown if the execution is stopped', async () => {
		const { options, stop, waits } = campaign(shows(old), shows(old, list(8, 2)));
		stop();
		const outcome = await push(2, options);
		expect(statuses(outcome)).toEqual(['0 unknown', '1 unknown']);
		expect(messageOf(outcome)).toMatch(/ The execution was stopped before the search ended\.$/);
		expect(waits).toHaveLength(1);
	});
});

describe('without the lists before the request', () => {
	test.each<[string, Status, RegExp]>([
		[
			'a campaign that cannot be read',
			stumbles,
			/couldn't be read before the request .* so the request wasn't sent/,
		],
		[
			'a status without lists',
			json(200, { success: true, data: { campaign: {} } }),
			/has no contact lists with IDs/,
		],
		['a list without an ID', shows({ file_name: 'x' }), /has no contact lists with IDs/],
	])('nothing is sent: %s', async (_name, before, message) => {
		const { options, sent } = campaign(before);
		const outcome = await push(2, options);
		expect(sent).toEqual([]);
		expect(statuses(outcome)).toEqual(['0 not_sent', '1 not_sent']);
		expect(outcome.stopped?.message).toMatch(message);
	});
});

test('a request with a response needs no search', async () => {
	const { options, requests, waits, sent } = campaign(shows(old));
	sent.push([]);
	await push(3, options);
	expect(requests).toEqual(['GET', 'POST', 'GET', 'POST']);
	expect(waits).toEqual([]);
});
