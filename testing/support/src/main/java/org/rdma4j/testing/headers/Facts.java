package org.rdma4j.testing.headers;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.util.Objects.requireNonNull;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SequenceLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.rdma4j.testing.headers.Generated.Member;

/** Everything that the generated bindings claim about C. */
public final class Facts {
  /** What the C library keeps to itself, and changes: the structs in its locks. */
  private static final String PRIVATE = "__";

  /** Only the size and the alignment of locks matter. */
  private static final String LOCKS = "pthread_";

  /** The last member of the struct that grows at its front. */
  private static final String LAST = "context";

  /** The generated classes, by the C names of their types. */
  private final Map<String, Class<?>> types = new LinkedHashMap<>();

  private final List<Fact> facts = new ArrayList<>();

  private final Generated generated;

  private Facts(Generated generated) {
    this.generated = generated;
    Map<String, String> spellings =
        generated.symbols().stream()
            .filter(Filter.Symbol::isType)
            .collect(Collectors.toMap(Filter.Symbol::name, Filter.Symbol::spelling));
    generated.types().stream()
        .filter(type -> !type.getSimpleName().startsWith(PRIVATE))
        .forEach(type -> types.put(spellings.get(type.getSimpleName()), type));
  }

  /**
   * Returns the size and alignment of all structs, unions and members, and the offsets of members.
   * A struct that may grow has no fact about its size, and the one that grows at its front has the
   * distances of its members to its last one.
   */
  public static List<Fact> ofTypes(Generated generated, AbiGrowth growth) {
    Facts facts = new Facts(generated);
    facts.types.forEach(
        (spelling, type) -> {
          GroupLayout layout = Generated.layout(type);
          boolean hasMask = layout.memberLayouts().stream().anyMatch(Facts::isMask);
          if (!spelling.equals(AbiGrowth.AT_THE_FRONT) && !growth.mayGrow(spelling, hasMask)) {
            facts.add(
                spelling, "size of " + spelling, "sizeof(" + spelling + ")", layout.byteSize());
          }
          facts.add(
              spelling,
              "alignment of " + spelling,
              "_Alignof(" + spelling + ")",
              layout.byteAlignment());
          if (!spelling.startsWith(LOCKS)) {
            facts.addMembers(spelling, type, "", 0);
          }
        });
    return facts.facts;
  }

  /** Returns the size and value of every constant. */
  public static List<Fact> ofConstants(Generated generated) {
    Facts facts = new Facts(generated);
    generated.constants().stream().sorted().forEach(facts::addConstant);
    return facts.facts;
  }

  private void addMembers(String spelling, Class<?> type, String prefix, long base) {
    for (Member member : Generated.members(Generated.layout(type))) {
      String path = prefix + member.name();
      long offset = base + member.offset();
      addMember(spelling, path, offset, member.layout());
      Generated.nestedType(type, member)
          .ifPresentOrElse(
              nested -> addMembers(spelling, nested, path + ".", offset),
              () -> addMemberType(spelling, path, member.layout()));
    }
  }

  private static boolean isMask(MemoryLayout member) {
    return member.name().filter(name -> name.equals("comp_mask")).isPresent();
  }

  private void addMember(String spelling, String path, long offset, MemoryLayout layout) {
    String name = spelling + "." + path;
    String symbol = name.replace("[0]", "");
    String member = member(spelling, path);
    String offsetInC = "offsetof(" + spelling + ", " + path + ")";
    if (spelling.equals(AbiGrowth.AT_THE_FRONT)) {
      long last =
          Generated.layout(requireNonNull(types.get(spelling))).byteOffset(groupElement(LAST));
      add(
          symbol,
          "distance of " + name,
          "offsetof(" + spelling + ", " + LAST + ") - " + offsetInC,
          last - offset);
    } else {
      add(symbol, "offset of " + name, offsetInC, offset);
    }
    add(symbol, "size of " + name, "sizeof(" + member + ")", layout.byteSize());
    add(symbol, "alignment of " + name, "__alignof__(" + member + ")", layout.byteAlignment());
    if (layout instanceof SequenceLayout array) {
      addMember(spelling, path + "[0]", offset, array.elementLayout());
    }
  }

  /** Claims only the type of a member: the facts about that type are claimed once. */
  private void addMemberType(String spelling, String path, MemoryLayout layout) {
    if (layout instanceof SequenceLayout array) {
      addMemberType(spelling, path + "[0]", array.elementLayout());
    }
    if (!(layout instanceof GroupLayout)) {
      return;
    }
    String anyOfThatLayout =
        types.entrySet().stream()
            .filter(type -> sameLayout(Generated.layout(type.getValue()), layout))
            .map(type -> sameType(member(spelling, path), type.getKey()))
            .collect(Collectors.joining(" || "));
    add(
        spelling + "." + path.replace("[0]", ""),
        "type of " + spelling + "." + path,
        anyOfThatLayout.isEmpty() ? "0" : anyOfThatLayout,
        1);
  }

  /** Returns whether two layouts differ in nothing but their names. */
  public static boolean sameLayout(MemoryLayout one, MemoryLayout other) {
    return one.withoutName().equals(other.withoutName());
  }

  private static String sameType(String expression, String spelling) {
    return "__builtin_types_compatible_p(__typeof__(" + expression + "), " + spelling + ")";
  }

  private static String member(String spelling, String path) {
    return "((" + spelling + " *) 0)->" + path;
  }

  private void addConstant(String name) {
    Object value = generated.constant(name);
    // Java has no unsigned types, so it compares the bits and the size.
    if (value instanceof Integer bits) {
      add(name, "size of " + name, "sizeof(" + name + ")", Integer.BYTES);
      add(name, "value of " + name, "(int32_t) (" + name + ")", bits);
    } else if (value instanceof Long bits) {
      add(name, "size of " + name, "sizeof(" + name + ")", Long.BYTES);
      add(name, "value of " + name, "(int64_t) (" + name + ")", bits);
    } else {
      add(name, "value of " + name, "(intptr_t) (" + name + ")", ((MemorySegment) value).address());
    }
  }

  private void add(String symbol, String name, String expression, long value) {
    facts.add(new Fact(symbol, name, expression, value));
  }
}
