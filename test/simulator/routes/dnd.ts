import { istTimestamp } from '../clock';
import {
	agentNotFound,
	response,
	invalid,
	rejected,
	type SimulatorResponse,
} from '../http/responses';
import { placed, type Route, type SimulatorRequest } from '../http/route';
import { isNonEmptyString, type JsonObject } from '../json';
import { digitsOf, dndPhone } from '../rules/phone';
import type { DndEntry } from '../state/types';
import type { SimulatorState } from '../world';

const PER_PAGE_CAP = 100;
const PATH = '/v1/dnd_numbers';

export function dndRoutes(world: SimulatorState): Route[] {
	return [
		{ method: 'POST', path: PATH, handle: (request) => add(world, request) },
		{
			method: 'GET',
			path: PATH,
			handle: (request) => {
				world.listChanges.beforeRequest('dnd');
				return list(world, request);
			},
		},
		{ method: 'DELETE', path: PATH, handle: (request) => remove(world, request) },
	];
}

function add(
	{ state, dialect, clock }: SimulatorState,
	request: SimulatorRequest,
): SimulatorResponse {
	const names = dialect.dnd.add;
	const { placement, agentPlacement = placement } = names;
	const agent = state.ownAgent(placed(request, agentPlacement, names.agent));
	if (!agent) return agentNotFound(dialect);
	const number = placed(request, placement, names.phone);
	if (!isNonEmptyString(number)) return invalid(dialect, [`${names.phone} is required`]);
	const phone = dndPhone(number, dialect.dnd.phoneForms);
	if (phone === null) return invalid(dialect, [`${names.phone} is not a valid phone number`]);
	const known = state.dnd.find((e) => e.agentUuid === agent.agentUuid && e.phone === phone);
	if (known && dialect.dnd.addTwice === 'rejected') {
		return invalid(dialect, ['Phone number is already on DND list']);
	}
	const reason = placed(request, placement, names.reason);
	const entry = known ?? {
		id: state.nextId(),
		agentUuid: agent.agentUuid,
		phone,
		reason: typeof reason === 'string' ? reason : dialect.dnd.reason,
		createdAt: istTimestamp(clock.now()),
	};
	if (!known) state.dnd.push(entry);
	return response(200, dialect.dnd.addBody(entry, wireEntry(entry)));
}

function list({ state, dialect }: SimulatorState, { query }: SimulatorRequest): SimulatorResponse {
	const names = dialect.dnd.list;
	const agent = state.ownAgent(query[names.agent]);
	if (!agent) return agentNotFound(dialect);
	const { firstPage = 1 } = dialect.dnd;
	const page = Number(query[names.page] ?? firstPage);
	const asked = Number(query[names.perPage] ?? dialect.dnd.defaultPerPage);
	const before = page - firstPage;
	if (!isCount(before + 1) || !isCount(asked))
		return invalid(dialect, [`paging must be whole numbers from ${firstPage}`]);
	if (asked > PER_PAGE_CAP && dialect.dnd.overCap === 'rejected') {
		return invalid(dialect, [`${names.perPage} must be at most ${PER_PAGE_CAP}`]);
	}
	const perPage = Math.min(asked, PER_PAGE_CAP);
	const part = digitsOf(query[names.phone] ?? '');
	const found = state.dnd.filter(
		(entry) => entry.agentUuid === agent.agentUuid && entry.phone.includes(part),
	);
	// With pages from 0, a page after the last one doesn't exist.
	if (firstPage === 0 && before > 0 && before * perPage >= found.length) {
		return invalid(dialect, [`there is no ${names.page} ${page}`]);
	}
	return response(200, {
		success: true,
		data: found.slice(before * perPage, (before + 1) * perPage).map(wireEntry),
		meta: {
			current_page: page,
			total_pages: Math.ceil(found.length / perPage),
			total_count: found.length,
			per_page: perPage,
		},
	});
}

function remove({ state, dialect }: SimulatorState, request: SimulatorRequest): SimulatorResponse {
	const names = dialect.dnd.remove;
	const written = placed(request, names.phonePlacement, names.phone ?? 'phone');
	if (!isNonEmptyString(written)) {
		return rejected(dialect.statuses.dndPhoneMissing, dialect.dnd.phoneMissing);
	}
	const agent = state.ownAgent(placed(request, names.agentPlacement, names.agent));
	if (!agent) return agentNotFound(dialect);
	const phone = dndPhone(written, dialect.dnd.phoneForms);
	const at = state.dnd.findIndex((e) => e.agentUuid === agent.agentUuid && e.phone === phone);
	if (at < 0) return rejected(dialect.statuses.dndNotOnList, 'Phone number not found on DND list');
	state.dnd.splice(at, 1);
	return response(200, { success: true, message: dialect.dnd.removedMessage(written) });
}

function isCount(value: number): boolean {
	return Number.isInteger(value) && value >= 1;
}

function wireEntry(entry: DndEntry): JsonObject {
	return {
		id: entry.id,
		agent_uuid: entry.agentUuid,
		phone: entry.phone,
		reason: entry.reason,
		created_at: entry.createdAt,
	};
}
