import { recordOf } from '../calls/record';
import { response, invalid, type SimulatorResponse } from '../http/responses';
import type { Route } from '../http/route';
import { digitsOf } from '../rules/phone';
import type { Call } from '../state/types';
import type { SimulatorState } from '../world';

type Query = Record<string, string>;

/** The parameter of a link to the next page: the whole query and the start of the page. */
const LINK = 'page_token';

export function listCallRoutes(world: SimulatorState): Route[] {
	return [
		{
			method: 'GET',
			path: '/v1/calls',
			handle: ({ query }) => {
				world.listChanges.beforeRequest('calls');
				return query[LINK] === undefined ? listCalls(world, query) : followLink(world, query);
			},
		},
	];
}

/** A link is complete, so it's rejected with other parameters. */
function followLink(
	world: SimulatorState,
	{ [LINK]: token = '', ...others }: Query,
): SimulatorResponse {
	const names = Object.keys(others);
	if (names.length > 0) return invalid(world.dialect, [`${LINK} excludes ${names.join(', ')}`]);
	const asked = new URLSearchParams(Buffer.from(token, 'base64url').toString());
	return listCalls(world, Object.fromEntries(asked));
}

function linkTo(start: number, query: Query, { dialect }: SimulatorState): string {
	const asked = new URLSearchParams({ ...query, [dialect.calls.paging.position]: String(start) });
	return `?${LINK}=${Buffer.from(asked.toString()).toString('base64url')}`;
}

function listCalls(world: SimulatorState, asked: Query): SimulatorResponse {
	const { state, dialect } = world;
	const { paging } = dialect.calls;
	const query = asTimes(asked, world);
	const size = Number(query[paging.size] ?? paging.defaultSize);
	const start = startOf(query[paging.position], size, world);
	if (!Number.isInteger(size) || size < 1 || start === null) {
		return invalid(dialect, ['paging is not valid']);
	}
	const problems = dateProblems(query, world);
	if (problems.length > 0) return invalid(dialect, problems);
	const shown = Math.min(size, paging.maxSize);
	const found = [...state.calls.values()].reverse().filter(wantedBy(query, world));
	const items = found
		.slice(start, start + shown)
		.map((call) => recordOf(call, state.agents.get(call.agentUuid), dialect));
	const next = start + shown < found.length ? start + shown : null;
	return response(
		200,
		dialect.calls.listBody({
			items: items.map((item) => dialect.calls.listItem(item)),
			total: found.length,
			size: shown,
			start,
			next,
			link: next === null ? null : linkTo(next, asked, world),
		}),
	);
}

/** The index of the first item, from a page number, an offset, or a cursor. */
function startOf(
	position: string | undefined,
	size: number,
	{ dialect }: SimulatorState,
): number | null {
	const { style, maxSize } = dialect.calls.paging;
	if (position === undefined) return 0;
	const number = Number(style === 'cursor' ? position.replace(/^c/, '') : position);
	if (!Number.isInteger(number) || number < (style === 'page' ? 1 : 0)) return null;
	return style === 'page' ? (number - 1) * Math.min(size, maxSize) : number;
}

/** Converts the range filter and times in seconds to the two date filters. */
function asTimes(query: Query, { dialect: { calls } }: SimulatorState): Query {
	const { range, timesInSeconds = false, filters } = calls;
	const [before = '', between = ''] = range?.form.split(/\{from\}|\{to\}/) ?? [];
	const together = range === undefined ? undefined : query[range.name];
	const [from, to] = together?.slice(before.length).split(between) ?? [
		query[filters.from],
		query[filters.to],
	];
	const date = (time: string) =>
		timesInSeconds && /^\d+$/.test(time) ? new Date(Number(time) * 1000).toISOString() : time;
	return {
		...query,
		...(from !== undefined && { [filters.from]: date(from) }),
		...(to !== undefined && { [filters.to]: date(to) }),
	};
}

function dateProblems(query: Query, { dialect }: SimulatorState): string[] {
	const { from, to } = dialect.calls.filters;
	return [from, to]
		.filter((name) => query[name] !== undefined && Number.isNaN(Date.parse(query[name])))
		.map((name) => `${name} is not a date`);
}

/** Returns a filter for calls. Unused query parameters cost nothing in a long list. */
function wantedBy(query: Query, { dialect, clock }: SimulatorState): (call: Call) => boolean {
	const { filters, listsScheduled } = dialect.calls;
	const asked = (name: string, holds: (value: string, call: Call) => boolean) => {
		const value = query[name];
		return value === undefined ? [] : [(call: Call) => holds(value, call)];
	};
	const now = clock.now();
	const checks = [
		...(listsScheduled ? [] : [(call: Call) => (call.scheduledAt ?? now) <= now]),
		...asked(filters.status, (status, call) => status === String(call.outcome.status)),
		...asked(filters.agent, (agent, call) => agent === call.agentUuid),
		...asked(filters.campaign, (campaign, call) => campaign === String(call.campaignId)),
		...asked('campaign_upload_id', (upload, call) => upload === String(call.uploadId)),
		...asked(filters.from, (from, call) => Date.parse(call.createdAt) >= Date.parse(from)),
		...asked(filters.to, (to, call) => Date.parse(call.createdAt) <= endOf(to)),
		...asked(filters.phone, (phone, call) => call.phone.includes(digitsOf(phone))),
	];
	return (call) => checks.every((holds) => holds(call));
}

/** A bare date includes the whole day. */
function endOf(date: string): number {
	return Date.parse(date) + (/^\d{4}-\d{2}-\d{2}$/.test(date) ? 86_399_999 : 0);
}
