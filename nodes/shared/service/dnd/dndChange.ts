import { addDndNumber, removeDndNumber, type Additions } from '../endpoints';
import { recordOf } from '../core/envelope';
import { isRefusal, OutcomeUnknown } from '../core/explained';
import type { OpenDetails } from '../openDetails';
import type { Service } from '../core/service';
import type { JsonObject } from '../types';

type Placed = { placement: string; wireName: string; value: string };

/**
 * The values of an addition, named and placed as the credential says.
 *
 * @throws MissingOpenDetail before anything is sent
 */
export function valuesToAdd(
	details: OpenDetails,
	values: { agentUuid: string; phone: string; reason: string },
): Additions {
	const placement = details.required('dndAddPlacement');
	const placed: Placed[] = [
		{ placement, wireName: details.required('dndAddAgentName'), value: values.agentUuid },
		{ placement, wireName: details.required('dndAddPhoneName'), value: values.phone },
	];
	if (values.reason !== '') {
		placed.push({
			placement,
			wireName: details.required('dndAddReasonName'),
			value: values.reason,
		});
	}
	return place(placed);
}

/** The values of a removal; `phone` is documented, where it goes is not. */
export function valuesToRemove(
	details: OpenDetails,
	values: { agentUuid: string; phone: string },
): Additions {
	return place([
		{
			placement: details.required('dndRemovePhonePlacement'),
			wireName: 'phone',
			value: values.phone,
		},
		{
			placement: details.required('dndRemoveAgentPlacement'),
			wireName: details.required('dndRemoveAgentName'),
			value: values.agentUuid,
		},
	]);
}

function place(values: Placed[]): Additions {
	const additions: Additions = {};
	for (const { placement, wireName, value } of values) {
		if (placement === 'query') additions.query = { ...additions.query, [wireName]: value };
		else additions.body = { ...additions.body, [wireName]: value };
	}
	return additions;
}

/** Adds a number; what the service answers is open and passes through. */
export async function addNumber(
	service: Service,
	phone: string,
	values: Additions,
	additions: Additions,
): Promise<JsonObject> {
	const answer = await addDndNumber(service, values, additions).catch(whichNumber(phone));
	return recordOf(answer);
}

/** Removes a number; `lenient` takes one that is not listed for removed, as workflows run again. */
export async function removeNumber(
	service: Service,
	phone: string,
	values: Additions,
	additions: Additions,
	lenient: boolean,
): Promise<JsonObject> {
	const removal = removeDndNumber(service, values, additions).catch(whichNumber(phone));
	return await removal.then(
		(answer) => ({ was_listed: true, ...recordOf(answer) }),
		(error: unknown) => {
			if (!lenient || !isRefusal(error, 'not_on_dnd_list')) throw error;
			return { was_listed: false, message: error.said ?? '' };
		},
	);
}

/** Names the number whose change has an unknown fate, and how to find it out. */
function whichNumber(phone: string) {
	return (error: unknown): never => {
		if (!(error instanceof OutcomeUnknown)) throw error;
		throw error.told({
			message: `${error.message} (${phone})`,
			todo: `It was not sent a second time. Check tells whether ${phone} is on the list now; then run this item again if need be.`,
		});
	};
}
