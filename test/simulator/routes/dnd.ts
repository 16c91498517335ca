import { boundOf } from '../../openapi/openapi';
import { istTimestamp } from '../clock';
import { invalid, notFound, placed, rejected, response, type Handler } from '../http/route';
import { isNonEmptyString } from '../json';
import { digitsOf, dndPhone } from '../rules/phone';
import { DND_REASON } from '../state/fixtures';
import type { DndEntry } from '../state/state';

const MAX_PER_PAGE = boundOf('PageMeta.properties.per_page.maximum');

const shown = (entry: DndEntry) => ({
	id: entry.id,
	agent_uuid: entry.agentUuid,
	phone: entry.phone,
	reason: entry.reason,
	created_at: entry.createdAt,
});

export const addDnd: Handler = (sim, request) => {
	const { state, clock } = sim;
	const { dnd } = sim.dialect;
	const { add, phoneForms, addTwice } = dnd;
	const agent = state.ownAgent(placed(request, add.agent));
	if (!agent) return notFound(sim, 'agentNotFound');
	const number = placed(request, add.phone);
	if (!isNonEmptyString(number)) return invalid(sim, [`${add.phone.name} is required`]);
	const phone = dndPhone(number, phoneForms);
	if (phone === null) return invalid(sim, [`${add.phone.name} is not a valid phone number`]);
	const known = state.dnd.find((e) => e.agentUuid === agent.agentUuid && e.phone === phone);
	if (known && addTwice === 'rejected') {
		return invalid(sim, ['Phone number is already on DND list']);
	}
	const reason = placed(request, add.reason);
	const entry = known ?? {
		id: state.nextId(),
		agentUuid: agent.agentUuid,
		phone,
		reason: typeof reason === 'string' ? reason : DND_REASON,
		createdAt: istTimestamp(clock.now()),
	};
	if (!known) state.dnd.push(entry);
	return response(200, dnd.addBody(shown(entry)));
};

export const listDnd: Handler = (sim, { query }) => {
	const { state } = sim;
	const { list: names, firstPage, defaultPerPage, overCap } = sim.dialect.dnd;
	const agent = state.ownAgent(query[names.agent]);
	if (!agent) return notFound(sim, 'agentNotFound');
	const page = Number(query[names.page] ?? firstPage);
	const asked = Number(query[names.perPage] ?? defaultPerPage);
	if (!Number.isInteger(page) || page < firstPage || !Number.isInteger(asked) || asked < 1) {
		return invalid(sim, [`paging must be whole numbers from ${firstPage}`]);
	}
	if (asked > MAX_PER_PAGE && overCap === 'rejected') {
		return invalid(sim, [`${names.perPage} must be at most ${MAX_PER_PAGE}`]);
	}
	const perPage = Math.min(asked, MAX_PER_PAGE);
	const start = (page - firstPage) * perPage;
	const part = digitsOf(query[names.phone] ?? '');
	const found = state.dnd.filter(
		(entry) => entry.agentUuid === agent.agentUuid && entry.phone.includes(part),
	);
	// With pages from 0, a page after the last one doesn't exist.
	if (firstPage === 0 && start > 0 && start >= found.length) {
		return invalid(sim, [`there is no ${names.page} ${page}`]);
	}
	return response(200, {
		success: true,
		data: found.slice(start, start + perPage).map(shown),
		meta: {
			current_page: page,
			total_pages: Math.ceil(found.length / perPage),
			total_count: found.length,
			per_page: perPage,
		},
	});
};

export const removeDnd: Handler = (sim, request) => {
	const { state, dialect } = sim;
	const { remove, phoneForms, phoneMissing } = dialect.dnd;
	const written = placed(request, remove.phone);
	if (!isNonEmptyString(written)) return rejected(dialect.statuses.phoneMissing, phoneMissing);
	const agent = state.ownAgent(placed(request, remove.agent));
	if (!agent) return notFound(sim, 'agentNotFound');
	const phone = dndPhone(written, phoneForms);
	const at = state.dnd.findIndex((e) => e.agentUuid === agent.agentUuid && e.phone === phone);
	if (at < 0) return notFound(sim, 'notOnDndList');
	state.dnd.splice(at, 1);
	return response(200, { success: true, message: `Phone number ${written} removed from DND list` });
};
