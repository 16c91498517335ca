import { removeDndNumber, type Additions } from './endpoints';
import { recordOf } from './envelope';
import { isNotOnDndList } from './errorTable';
import { ServiceRefusal } from './explained';
import type { OpenDetails } from './openDetails';
import type { Service } from './service';
import type { JsonObject } from './types';

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

/** Removes a number; `lenient` takes one that is not listed for removed, as workflows run again. */
export async function removeNumber(
	service: Service,
	values: Additions,
	additions: Additions,
	lenient: boolean,
): Promise<JsonObject> {
	return await removeDndNumber(service, values, additions).then(
		(answer) => ({ was_listed: true, ...recordOf(answer) }),
		(error: unknown) => {
			if (!lenient || !(error instanceof ServiceRefusal) || !isNotOnDndList(error.refusal)) {
				throw error;
			}
			return { was_listed: false, message: error.serviceSaid ?? '' };
		},
	);
}
