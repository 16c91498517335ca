import { findAgents } from '../agents';
import {
	callListQuery,
	entriesOf,
	nextIn,
	linkedNext,
	onlyListIn,
	readsFirstPageOnly,
	requireWholeList,
	totalIn,
} from '../calls/callList';
import { dndList } from '../dnd/dndList';
import { type PartName, PARTS } from '../profile/schema';
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

/** Why something wasn't tested. `subject` if the rest was. */
type NotTested = { reason: string; subject?: string };

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
	const result: ProfileTestResult = { read: [], untested: [], failures: [] };
	for (const name of PARTS) {
		if (account.profile.part(name) === undefined) continue;
		const { [name]: subject } = SUBJECTS;
		try {
			const notTested = await readPart(name, account, agents);
			if (notTested === undefined || notTested.subject !== undefined) result.read.push(subject);
			if (notTested !== undefined)
				result.untested.push(`${notTested.subject ?? subject} (${notTested.reason})`);
		} catch (error) {
			const { message, resolutionOnScreen, originalMessage } = explained(error);
			const details = originalMessage === undefined ? '' : ` (${originalMessage})`;
			const next =
				error instanceof ServiceRejection
					? account.profile.resolution(name, 'query')
					: resolutionOnScreen;
			result.failures.push(`Reading ${subject} failed: ${asSentence(message + details)} ${next}`);
		}
	}
	return result;
}

async function readPart(
	name: PartName,
	account: Account,
	agents: JsonValue | undefined,
): Promise<NotTested | undefined> {
	switch (name) {
		case 'agents':
			if (agents === undefined) return { reason: "the service didn't return it" };
			requireNames(agents, account);
			return undefined;
		case 'calls':
			return await readCalls(account);
		case 'dnd.list': {
			const agentUuid = anyAgent(account, agents);
			if (agentUuid === undefined) return { reason: 'no active agent was found' };
			await dndList(account, { agentUuid, limit: ONE_ENTRY }).read(undefined);
			return undefined;
		}
		default:
			return { reason: 'a test changes nothing' };
	}
}

const ONE_ENTRY = 1;

/** @throws OutcomeUnknown if the response has no agents, or none of them has its name where the profile says */
function requireNames(agents: JsonValue, { profile }: Account): void {
	const { name: path } = profile.required('agents');
	const found = findAgents(agents, { profile });
	const isNamed = found.some(({ name, uuid }) => name !== uuid);
	if (path !== undefined && found.length > 0 && !isNamed)
		throw nothingAt(path, agents, profile.resolution('agents', 'name'));
}

/**
 * Reads the first page, and checks the paths whose mistakes would go unnoticed: to the list, its total, and its next page.
 *
 * @throws OutcomeUnknown that names the first wrong path
 */
async function readCalls(account: Account): Promise<NotTested | undefined> {
	const { client, profile } = account;
	const pageSize = profile.needOf('calls', 'pageSize') && ONE_ENTRY;
	const query = callListQuery({}, profile, 'utc', pageSize && { pageSize });
	const { body } = await listCalls(client, { query });
	if (readsFirstPageOnly(ONE_ENTRY, account)) {
		onlyListIn(body, profile);
		return undefined;
	}
	const shown = requireWholeList(account);
	const { length: count } = entriesOf(body, shown, profile);
	const total = totalIn(body, shown);
	if (shown.total !== undefined && total === undefined)
		throw nothingAt(shown.total, body, profile.resolution('calls', 'total'));
	const next = nextIn(body, shown);
	if (next === undefined || linkedNext(body, shown, profile).length > 0) return undefined;
	if (total !== undefined && total > count)
		throw nothingAt(next.path, body, profile.resolution('calls', 'next'));
	if (next.value !== undefined) return undefined;
	const reason = `the first response has nothing at "${next.path}", so it's the last page or the path is wrong`;
	return { subject: 'further pages of the call list', reason };
}

function nothingAt(path: string, response: JsonValue, advice: string): OutcomeUnknown {
	return new OutcomeUnknown(
		`The response has nothing at "${path}"`,
		onScreenOnly(`${advice} The response contains ${outlineOf(response)}.`),
	);
}

function anyAgent(account: Account, agents: JsonValue = null): string | undefined {
	try {
		return findAgents(agents, account)[0]?.uuid;
	} catch (error) {
		// The test of the agents reports this if the profile shows them.
		explained(error);
		return undefined;
	}
}
