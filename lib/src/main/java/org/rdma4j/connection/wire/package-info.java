/**
 * What two ends of a connection send each other.
 *
 * <h2>Wire protocol, version 4</h2>
 *
 * <p>The private data of the connection request, and that of the answer, are 33 bytes, big-endian:
 * the number 0x52344a43, the version 4, the length of the buffers that the side receives into, at
 * least 64, the number of messages that it receives before it grants more, the number of messages
 * that it receives at most before it has read one (4 bytes each), the length of the longest message
 * that it receives (8 bytes), a last byte of 0x5a, and the features that the side has (4 bytes): 1
 * for packed messages and the flag 16, 2 for one receive for messages of the protocol itself and
 * the flag 32. The features may be missing, or zeros; unknown ones are ignored.
 *
 * <p>Each message is one SEND, of a header of 16 bytes and the bytes of the message. The header:
 *
 * <table class="striped">
 *   <caption>The header of a message, big-endian</caption>
 *   <thead>
 *     <tr><th scope="col">bytes</th><th scope="col">contents</th></tr>
 *   </thead>
 *   <tbody>
 *     <tr><td>0</td><td>the kind: 0 message, 1 notice, 2 request, 3 answer, 4 refusal of a request,
 *         5 control, 6 end, 7 credits given back, 8 cancel of a request</td></tr>
 *     <tr><td>1</td><td>flags: 1 what follows is an offer of the message; of an end, 2 the sender
 *         closes the connection, 4 the connection is broken, and what follows is the reason; of a
 *         message, 8 others follow; of a message that needs a credit, 16 its sender lacked one; of
 *         any message, 32 its sender has read the last message of the protocol itself</td></tr>
 *     <tr><td>2, 3</td><td>credits: how many messages more the receiver of this may send</td></tr>
 *     <tr><td>4, 5</td><td>how many offers of the receiver of this have been fetched since the last
 *         message</td></tr>
 *     <tr><td>6, 7</td><td>with the flag 8 the length of the first message; otherwise 0:
 *         reserved</td></tr>
 *     <tr><td>8 to 15</td><td>of a request, an answer, a refusal and a cancel: the number of the
 *         request; of a notice: its value; of credits given back: how many, without that of this
 *         message</td></tr>
 *   </tbody>
 * </table>
 *
 * <p>If both sides have the feature of packed messages, a SEND of kind 0 with the flag 8, which is
 * no offer, has two messages or more: the bytes of the first, then for each further one its length
 * (4 bytes) and its bytes. The last one ends with the SEND. They are delivered as if each had come
 * alone, and need one credit together.
 *
 * <p>A message of kind 0 to 4, 7 or 8 needs a credit, which stands for a receive that the peer has
 * posted. Credits travel with the next message, or in one of kind 5 once they are half of what the
 * peer may have. A side grants 1 credit at first, and twice as many whenever the peer has used up
 * all of them, or says by the flag 16 that it had more to send than credits. A side that has sent
 * nothing for a second gives back all credits but 1.
 *
 * <p>Messages of kind 5, and ends, need receives that no credit stands for. If not both sides have
 * the feature of one receive, there are five: at most three messages of kind 5 can be unread, and
 * two ends follow. If both have it, there is one. A message of kind 5 that reports no fetched offer
 * takes it, and so does an end with a flag; the next one waits until the peer has said, by the flag
 * 32 of any message, that it has read the last. A side says that with whatever it sends next, which
 * it can, because the message had credits; or, if the peer has no credit and so could not close the
 * connection, soon, with 0 credits given back. An end without flags then needs a credit, and one
 * with a flag takes a credit if the receive is not free.
 *
 * <p>A message that is longer than the buffers of the peer is offered: the number of the message (4
 * bytes), its length, the offset and the length of the offered piece, its address (8 bytes each)
 * and the remote key (4 bytes). The peer fetches the piece by RDMA read, and reports that in the
 * header of its next message. It can read the piece, and nothing else, until it has reported that.
 * For that, the sender of an offer has a further receive. A side that has made 64 offers that are
 * not fetched makes no further one until the peer says that it has fetched one.
 *
 * <p>A cancel reports that no caller waits for the answer to a request any more. The receiver may
 * have answered that meanwhile, and must answer or refuse it in any case.
 *
 * <h2>The end</h2>
 *
 * <p>An end without flags ends the output of its sender: no message of kind 0 to 2 follows, and no
 * second such end. What the protocol still needs may follow: answers and refusals of requests of
 * the peer, cancels, credits, reports of fetched offers, credits given back, and one end that has a
 * flag. After an end with the flag 2 or 4, the receiver ignores what comes; its sender sends at
 * most kind 5.
 *
 * <p>A side breaks the connection if the other one breaks these rules, sends a kind or a flag that
 * this page does not have for it, or reserved bytes that are not 0. What a later version adds is
 * used only if both sides have announced it in the private data.
 */
@NullMarked
package org.rdma4j.connection.wire;

import org.jspecify.annotations.NullMarked;
