import { findAgents } from '../agents';
import {
	entriesOf,
	nextIn,
	linkedNext,
	onlyListIn,
	readsFirstPageOnly,
	requireWholeList,
	totalIn,
} from '../calls/callList';
import { callListQuery } from '../calls/callListQuery';
import { dndList } from '../dnd/dndList';
import type { PartName } from '../profile/schema';
import { type Account, SUBJECTS } from '../profile/serviceProfile';
import { listCalls } from '../service/endpoints';
import { asSentence, explained, OutcomeUnknown, ServiceRejection } from '../service/errors';
import { onScreenOnly } from '../service/resolution';
import { type JsonValue, outlineOf } from '../values/json';

/** The result of testing the profile with requests that change nothing. */
export type ProfileTestResult = {
	read: string[];
	/** Each with a reason in parentheses. */
	untested: string[];
	/** What failed, and what to do. */
	failures: string[];
};

const ONE_ENTRY = 1;

/**
 * Tests each part of the profile for which the document has a read.
 *
 * @param agents the response of `GET /v1/active_agents`. Undefined if the service didn't return it.
 * @throws InvalidInput if the profile is invalid
 */
export async function testProfile(
	account: Account,
	agents: JsonValue | undefined,
): Promise<ProfileTestResult> {
	const { profile } = account;
	const result: ProfileTestResult = { read: [], untested: [], failures: [] };
	const changes = { reason: 'a test changes nothing' };
	await test('agents', () => {
		if (agents === undefined) return { reason: "the service didn't return it" };
		findAgents(agents, profile);
		return undefined;
	});
	await test('calls', async () => await readCalls(account));
	await test('dnd.list', async () => {
		const agentUuid = anyAgent(account, agents);
		if (agentUuid === undefined) return { reason: 'no active agent was found' };
		await dndList(account, { agentUuid, limit: ONE_ENTRY }).read(undefined);
		return undefined;
	});
	for (const name of ['dnd.add', 'dnd.remove'] as const) await test(name, () => changes);
	for (const name of ['chat.session', 'chat.inbound', 'chat.async'] as const)
		await test(name, () => changes);
	return result;

	/** `subject`: what wasn't tested, if the rest was. */
	type NotTested = { reason: string; subject?: string } | undefined;

	async function test(name: PartName, run: () => NotTested | Promise<NotTested>): Promise<void> {
		if (profile.part(name) === undefined) return;
		const { [name]: subject } = SUBJECTS;
		try {
			const notTested = await run();
			if (notTested === undefined || notTested.subject !== undefined) result.read.push(subject);
			if (notTested !== undefined)
				result.untested.push(`${notTested.subject ?? subject} (${notTested.reason})`);
		} catch (error) {
			const { message, resolution, originalMessage } = explained(error);
			const details = originalMessage === undefined ? '' : ` (${originalMessage})`;
			const next =
				error instanceof ServiceRejection ? profile.resolution(name, 'query') : resolution;
			result.failures.push(`Reading ${subject} failed: ${asSentence(message + details)} ${next}`);
		}
	}
}

/**
 * Reads the first page, and checks the paths whose mistakes would go unnoticed: to the list, its total, and its next page.
 *
 * @throws OutcomeUnknown that names the first wrong path
 */
async function readCalls({ client, profile }: Account) {
	const pageSize = profile.has('calls', 'pageSize') ? ONE_ENTRY : undefined;
	const query = callListQuery({}, profile, 'utc', { pageSize });
	const { body } = await listCalls(client, { query });
	if (readsFirstPageOnly(ONE_ENTRY, profile)) {
		onlyListIn(body, profile);
		return undefined;
	}
	const shown = requireWholeList(profile);
	const { length: count } = entriesOf(body, shown, profile);
	const total = totalIn(body, shown);
	if (shown.total !== undefined && total === undefined) throw notFitting('total', shown.total);
	const next = nextIn(body, shown);
	if (next === undefined || linkedNext(body, shown, profile).length > 0) return undefined;
	if (next.value !== undefined) return undefined;
	if (total !== undefined && total > count) throw notFitting('next', next.path);
	const reason = `the first response has nothing at "${next.path}", so it's the last page or the path is wrong`;
	return { subject: 'further pages of the call list', reason };

	function notFitting(entry: string, path: string): OutcomeUnknown {
		return new OutcomeUnknown(
			`The response has nothing at "${path}"`,
			onScreenOnly(
				`${profile.resolution('calls', entry)} The response contains ${outlineOf(body)}.`,
			),
		);
	}
}

function anyAgent({ profile }: Account, agents: JsonValue | undefined): string | undefined {
	try {
		return agents === undefined ? undefined : findAgents(agents, profile)[0]?.uuid;
	} catch (error) {
		// The test of the agents reports this if the profile shows them.
		explained(error);
		return undefined;
	}
}
