import { removeDndNumber, type Additions } from '../../shared/api/endpoints';
import { recordOf } from '../../shared/api/envelope';
import { isRejection, type OutcomeUnknown } from '../../shared/api/errors';
import type { ApiMapping } from '../../shared/apiMapping';
import { placeValues } from '../../shared/apiMapping/placeValues';
import type { ApiClient } from '../../shared/api/client';
import type { JsonObject } from '../../shared/json';

/**
 * The parameters of an addition, as set in the credential.
 *
 * @throws MissingMapping before anything is sent
 */
export function valuesToAdd(
	mapping: ApiMapping,
	{ agentUuid, phone, reason }: { agentUuid: string; phone: string; reason: string },
): Additions {
	const added = [
		{ name: 'dndAddAgentName', placement: 'dndAddAgentPlacement', value: agentUuid },
		{ name: 'dndAddPhoneName', placement: 'dndAddPhonePlacement', value: phone },
		{ name: 'dndAddReasonName', placement: 'dndAddReasonPlacement', value: reason },
	] as const;
	const given = added.filter(({ value }) => value !== '');
	const arePlaced = given.every(({ placement }) => mapping.optional(placement) !== undefined);
	mapping.require([
		...(arePlaced ? [] : (['dndAddPlacement'] as const)),
		...given.map(({ name }) => name),
	]);
	return placeValues(
		given.map(({ name, placement, value }) => ({
			placement: mapping.optional(placement) ?? mapping.required('dndAddPlacement'),
			name: mapping.required(name),
			value,
		})),
	);
}

/** The parameters of a removal. The document names `phone`, but not whether it goes in the query or the body. */
export function valuesToRemove(
	mapping: ApiMapping,
	{ agentUuid, phone }: { agentUuid: string; phone: string },
): Additions {
	mapping.require(['dndRemovePhonePlacement', 'dndRemoveAgentPlacement', 'dndRemoveAgentName']);
	return placeValues([
		{
			placement: mapping.required('dndRemovePhonePlacement'),
			name: mapping.optional('dndRemovePhoneName') ?? 'phone',
			value: phone,
		},
		{
			placement: mapping.required('dndRemoveAgentPlacement'),
			name: mapping.required('dndRemoveAgentName'),
			value: agentUuid,
		},
	]);
}

/** @param ignoreIfNotListed succeed if the number isn't on the list, so that a workflow can run again */
export async function removeNumber(
	client: ApiClient,
	values: Additions,
	additions: Additions,
	ignoreIfNotListed: boolean,
): Promise<JsonObject> {
	return await removeDndNumber(client, values, additions).then(
		(response) => ({ was_listed: true, ...recordOf(response) }),
		(error: unknown) => {
			if (!ignoreIfNotListed || !isRejection(error, 'not_on_dnd_list')) throw error;
			return { was_listed: false, message: error.originalMessage ?? '' };
		},
	);
}

/** Adds the number to an unknown outcome, and how to check it. */
export function withNumber(phone: string, error: OutcomeUnknown): OutcomeUnknown {
	return error.withText({
		message: `${error.message} (${phone})`,
		resolution: {
			onScreen: `The request wasn't sent again. Before you try again, use the Check operation to see whether ${phone} is on the list.`,
			forModel: 'The request was not sent again.',
		},
	});
}
