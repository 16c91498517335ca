/**
 * Where an expression that returns nothing leaves the field empty, by node and path. All of these are data of the row,
 * in whose sheet a cell may be blank; everything else decides what is done, and stops the node.
 */
export const MAY_BE_BLANK: { [place: string]: string } = {
	'placeCall › personName': 'the name of a person, whom the agent then does not address by name',
	'placeCall › initialGreeting': 'an opening line, for which the agent has one of its own',
	'placeCall › options.personName': 'the same, where a question is asked',
	'placeCall › options.initialGreeting': 'the same, among the options',
	'placeCall › options.additionalDataJson': 'what else is known of the person',
	'placeCall › additionalDataFields.fields[0].value': 'one thing that is known of the person',
	'dnd › reason': 'a remark about the entry',
	'chatSession › personName': 'the name of a customer',
	'chatSession › metadata': 'what else is known of the customer',
	'chatSend › sessionId':
		'a customer who writes for the first time has none: the agent is required then',
	'chatSend › agentUuid': 'the session has its agent already: one of both is required',
	'chatSend › options.messageId': 'an ID that the service only gives back',
};

/** Where true and false are values like any text. */
export const TAKES_TRUE_AND_FALSE: { [place: string]: string } = {
	'placeCall › additionalDataFields.fields[0].value': 'it is passed to the agent as it is',
	'placeCall › yesValues': 'a captured value may be true or false',
	'placeCall › noValues': 'a captured value may be true or false',
};

/** In a tool, JSON is a text; an object is right as well. */
export const IS_JSON = new Set([
	...['additionalBodyFields', 'additionalDataJson', 'additionalQueryParameters'],
	...['contacts', 'metadata'],
]);

/** Where an expression may return words that the list of the form doesn't have. */
export const TAKES_WORDS: { [place: string]: string } = {
	'chatSession › command': 'each service has commands of its own, and checks them',
};
